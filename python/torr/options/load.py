"""Options of the load: how many users or requests a second, for how long, from how many threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from torr.options import readers
from torr.options.definition import EVERYWHERE, LOAD, SAID_BY_PLAN, SHELL, Front, option, switch
from torr.options.readers import Reader, one_of

if TYPE_CHECKING:
    from torr.model.pace import Stage, Think

Arrivals = Literal["constant", "poisson"]

ARRIVALS: Reader[Arrivals] = one_of("HOW", ("constant", "poisson"))


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """When requests start, and until when."""

    group: ClassVar[str] = LOAD

    connections: int | None = option(
        *("-c", "--connections"),
        reader=readers.COUNT,
        only="run",
        help="users, each its own [50; 100 with --rate]",
    )
    duration_ns: int | None = option(
        *("-z", "--duration"),
        reader=readers.SOME_DURATION,
        help="measured window of a level [10s]",
    )
    requests: int | None = option(
        "--requests",
        reader=readers.REQUESTS,
        only="run",
        # In a plan file the key is the table of requests.
        fronts=SAID_BY_PLAN | SHELL,
        help="stop after N requests instead",
    )
    rate_per_s: float | None = option(
        "--rate",
        reader=readers.ANY_RATE,
        only="run",
        fronts=SAID_BY_PLAN,
        help="start RATE requests/s, whatever comes back",
    )
    arrivals: Arrivals | None = option(
        "--arrivals",
        reader=ARRIVALS,
        only="run",
        rare=True,
        fronts=SAID_BY_PLAN,
        help="constant or poisson, with --rate [constant]",
    )
    max_in_flight: int | None = option(
        "--max-in-flight",
        reader=readers.COUNT,
        only="run",
        rare=True,
        fronts=SAID_BY_PLAN,
        help="with --rate: drop what is due beyond N open [5M]",
    )
    spin: bool = switch(
        "--spin",
        only="run",
        rare=True,
        help="with --rate: look at the clock, do not oversleep",
    )
    stages: tuple[Stage, ...] | None = option(
        "--stages",
        reader=readers.STAGES,
        only="run",
        fronts=SAID_BY_PLAN,
        help="users by time, or with --rate: 30s:100,2m:1k,30s:0",
    )
    replay: str | None = option(
        "--replay",
        reader=readers.FILE,
        only="run",
        rare=True,
        fronts=SAID_BY_PLAN,
        help="start requests at the times in FILE, or an access log",
    )
    speed: float | None = option(
        "--speed",
        reader=readers.SOME_NUMBER,
        only="run",
        rare=True,
        fronts=SAID_BY_PLAN,
        help="with --replay: 2 is twice as fast [1]",
    )
    pool: int | None = option(
        "--pool",
        reader=readers.COUNT,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="users share N connections [one each]",
    )
    think: Think | None = option(
        "--think",
        reader=readers.THINK,
        rare=True,
        help="users think after each answer: 1s, 1s-3s, exp:2s",
    )
    warmup_ns: int | None = option(
        "--warmup",
        reader=readers.DURATION,
        help="load before the window, kept apart [2s]",
    )
    drain_ns: int | None = option(
        "--drain",
        reader=readers.DURATION,
        rare=True,
        help="wait for open requests at the end [--timeout]",
    )
    workers: int | None = option(
        "--workers",
        reader=readers.WORKERS,
        rare=True,
        help="threads [cores; half for a local target]",
    )
    processes: int | Literal["auto"] = option(
        "--processes",
        reader=readers.PROCESSES,
        default="auto",
        rare=True,
        # In a matrix file they are a factor of the servers.
        fronts=EVERYWHERE & ~Front.MATRIX,
        help="share descriptors out; auto: as needed [auto]",
    )
    seed: int = option(
        "--seed",
        reader=readers.SEED,
        default=1,
        rare=True,
        help="of everything random [1]",
    )
