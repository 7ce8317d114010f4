"""Options of the load: how many users or requests a second, for how long, from how many threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from torr.options import readers
from torr.options.definition import (
    EVERYWHERE,
    LOAD,
    SET_IN_PLAN_GROUPS,
    SHELL,
    OptionScope,
    option,
    switch,
)
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
        "-c/--connections", readers.COUNT, "users, each its own [50; 100 with --rate]", only="run"
    )
    duration_ns: int | None = option(
        "-z/--duration", readers.SOME_DURATION, "measured window of a level [10s]"
    )
    # In a plan file the key is the table of requests.
    requests: int | None = option(
        "--requests",
        readers.REQUESTS,
        "stop after N requests instead",
        only="run",
        scopes=SET_IN_PLAN_GROUPS | SHELL,
    )
    rate_per_s: float | None = option(
        "--rate",
        readers.ANY_RATE,
        "start RATE requests/s, whatever comes back",
        only="run",
        scopes=SET_IN_PLAN_GROUPS,
    )
    arrivals: Arrivals | None = option(
        "--arrivals",
        ARRIVALS,
        "constant or poisson, with --rate [constant]",
        only="run",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    max_in_flight: int | None = option(
        "--max-in-flight",
        readers.COUNT,
        "with --rate: drop due requests beyond N in flight [5M]",
        only="run",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    spin: bool = switch(
        "--spin", "with --rate: busy-wait for exact send times", only="run", rare=True
    )
    stages: tuple[Stage, ...] | None = option(
        "--stages",
        readers.STAGES,
        "users by time, or with --rate: 30s:100,2m:1k,30s:0",
        only="run",
        scopes=SET_IN_PLAN_GROUPS,
    )
    replay: str | None = option(
        "--replay",
        readers.FILE,
        "start requests at the times in FILE, or an access log",
        only="run",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    speed: float | None = option(
        "--speed",
        readers.SOME_NUMBER,
        "with --replay: 2 is twice as fast [1]",
        only="run",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    pool: int | None = option(
        "--pool",
        readers.COUNT,
        "users share N connections [one each]",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    think: Think | None = option(
        "--think", readers.THINK, "users think after each answer: 1s, 1s-3s, exp:2s", rare=True
    )
    warmup_ns: int | None = option(
        "--warmup", readers.DURATION, "load before the window, counted separately [2s]"
    )
    drain_ns: int | None = option(
        "--drain", readers.DURATION, "wait for open requests at the end [--timeout]", rare=True
    )
    workers: int | None = option(
        "--workers", readers.WORKERS, "threads [cores; half for a local target]", rare=True
    )
    # In a matrix file they are a factor of the servers.
    processes: int | Literal["auto"] = option(
        "--processes",
        readers.PROCESSES,
        "split the load over N processes; auto: as needed [auto]",
        default="auto",
        rare=True,
        scopes=EVERYWHERE & ~OptionScope.MATRIX,
    )
    seed: int = option("--seed", readers.SEED, "of everything random [1]", default=1, rare=True)
