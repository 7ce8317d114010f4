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
    from torr.model.cancellation import Cancellation
    from torr.model.pace import Stage, Think

Arrivals = Literal["constant", "poisson"]

ARRIVALS: Reader[Arrivals] = one_of("HOW", ("constant", "poisson"))


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """When requests start, and until when."""

    group: ClassVar[str] = LOAD

    connections: int | None = option(
        "-c/--connections",
        readers.COUNT,
        "open N connections, one per user [50; rate: 100]",
    )
    duration_ns: int | None = option(
        "-z/--duration", readers.SOME_DURATION, "measure each level for TIME [10s]"
    )
    # In a plan file the key is the table of requests.
    requests: int | None = option(
        "--requests",
        readers.REQUESTS,
        "stop after N requests, not after --duration",
        only="run",
        scopes=SET_IN_PLAN_GROUPS | SHELL,
    )
    rate_per_s: float | None = option(
        "--rate",
        readers.ANY_RATE,
        "start RATE requests per second (open loop)",
        only="run",
        scopes=SET_IN_PLAN_GROUPS,
    )
    arrivals: Arrivals | None = option(
        "--arrivals",
        ARRIVALS,
        "with a rate: use constant or poisson gaps [constant]",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    max_in_flight: int | None = option(
        "--max-in-flight",
        readers.COUNT,
        "with a rate: drop due requests beyond N in flight [5M]",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    spin: bool = switch("--spin", "with a rate or streams: busy-wait for exact times", rare=True)
    stages: tuple[Stage, ...] | None = option(
        "--stages",
        readers.STAGES,
        "ramp users (or --rate) to N in TIME: 30s:100,2m:1k",
        only="run",
        scopes=SET_IN_PLAN_GROUPS,
    )
    replay: str | None = option(
        "--replay",
        readers.FILE,
        "start requests at the times in a file or access log",
        only="run",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    speed: float | None = option(
        "--speed",
        readers.SOME_NUMBER,
        "with --replay or --trace: X times as fast [1]",
        only="run",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    pool: int | None = option(
        "--pool",
        readers.COUNT,
        "share N connections among users [one per user]",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    think: Think | None = option(
        "--think",
        readers.THINK,
        "pause users after each response: 1s, 1s-3s, exp:2s",
        rare=True,
    )
    cancel: Cancellation | None = option(
        "--cancel",
        readers.CANCELLATION,
        "let users give up: '10% after 2s'",
        rare=True,
    )
    warmup_ns: int | None = option(
        "--warmup", readers.DURATION, "load the target for TIME before measuring [2s]"
    )
    drain_ns: int | None = option(
        "--drain",
        readers.DURATION,
        "wait TIME for open requests at the end [--timeout]",
        rare=True,
    )
    workers: int | None = option(
        "--workers",
        readers.WORKERS,
        "send from N threads [cores; half for a local target]",
        rare=True,
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
    seed: int = option(
        "--seed", readers.SEED, "set the seed of all random choices [1]", default=1, rare=True
    )
