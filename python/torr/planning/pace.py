"""From the options of a load to a pace: steady load, stages, or times written down; and until when.

Stages and times begin at once: there is no warm-up before them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.model.pace import MOST_PER_S, MOST_USERS, Closed, Open, Replay, Stage
from torr.model.plan import Count, Duration
from torr.options.definition import refuse, require_for
from torr.units import LONGEST_NS, SECOND_NS, format_duration

if TYPE_CHECKING:
    from torr.model.pace import Pace
    from torr.options.connection import ConnectionOptions
    from torr.options.load import LoadOptions

DEFAULT_DURATION_NS = 10 * SECOND_NS
DEFAULT_WARMUP_NS = 2 * SECOND_NS
DEFAULT_USERS = 50
DEFAULT_OPEN_CONNECTIONS = 100
# What is due waits in memory for its turn: so much of it takes 0.2 GB.
MOST_IN_FLIGHT = 5_000_000

_LONGEST = f"the longest is {format_duration(LONGEST_NS)}, ten years"


@dataclass(frozen=True, slots=True)
class Timing:
    """When requests start, until when, and how long before the measured window."""

    pace: Pace
    stop: Duration | Count
    warmup_ns: int


def timing_of(
    load: LoadOptions, connection: ConnectionOptions, spawn_rate: float | None = None
) -> Timing:
    """Return what the options of a load say; raises UsageError that names the flag.

    Of steady users `spawn_rate` begin a second.
    """
    if load.replay is not None:
        return _replay(load, load.replay)
    require_for(load, "speed", what="--replay", hint="add --replay FILE")
    if load.rate_per_s is None:
        require_for(load, "arrivals", "max_in_flight", what="--rate", hint="add --rate 1000")
    else:
        refuse(load, "pool", what="--rate")
    if load.stages is not None:
        return _stages(load, load.stages, connection)
    warmup_ns = DEFAULT_WARMUP_NS if load.warmup_ns is None else load.warmup_ns
    return Timing(_steady(load, spawn_rate), _stop(load), warmup_ns)


def has_stages(pace: Pace) -> bool:
    """Return whether what a pace sends changes with time."""
    return not isinstance(pace, Replay) and bool(pace.stages)


def _steady(load: LoadOptions, spawn_rate: float | None) -> Pace:
    if load.rate_per_s is not None:
        return _open(load, load.rate_per_s)
    users = load.connections or max(DEFAULT_USERS, load.pool or 0)
    return Closed(users, load.pool, spawn_rate=spawn_rate)


def _open(load: LoadOptions, rate_per_s: float, stages: tuple[Stage, ...] = ()) -> Open:
    if rate_per_s == 0:
        raise UsageError("--rate: '0' requests a second is no load", "write 500, 10k or 200/s")
    return Open(
        rate_per_s=rate_per_s,
        arrivals=load.arrivals or "constant",
        connections=load.connections or DEFAULT_OPEN_CONNECTIONS,
        max_in_flight=load.max_in_flight or MOST_IN_FLIGHT,
        stages=stages,
    )


def _stop(load: LoadOptions) -> Duration | Count:
    if load.requests is None:
        return Duration(load.duration_ns or DEFAULT_DURATION_NS)
    refuse(load, "duration_ns", what="--requests", hint="give one stop")
    return Count(load.requests)


def _stages(load: LoadOptions, stages: tuple[Stage, ...], connection: ConnectionOptions) -> Timing:
    """Users that come and go, or with --rate a rate that does; it starts where -c or it says."""
    hint = "the stages say how long"
    refuse(load, "duration_ns", "requests", what="--stages", hint=hint)
    _refuse_warmup(load, "--stages")
    lasts_ns = sum(stage.duration_ns for stage in stages)
    require(lasts_ns <= LONGEST_NS, "--stages: all of them together are too long", _LONGEST)
    stop = Duration(lasts_ns)
    rate_per_s = load.rate_per_s
    start = load.connections if rate_per_s is None else rate_per_s
    if start:
        stages = (Stage(0, start), *stages)
    highest = max(stage.target for stage in stages)
    most, what = (MOST_USERS, "users") if rate_per_s is None else (MOST_PER_S, "requests/s")
    said = f"--stages: {highest:,.0f} {what} are too many"
    require(highest <= most, said, f"the most is {most:,}")
    if rate_per_s is not None:
        return Timing(_open(load, highest, stages), stop, 0)
    hint = "users who share connections are there from the start"
    refuse(load, "pool", what="--stages", hint=hint)
    hint = "users connect when their stage starts them"
    refuse(connection, "connections_per_second", what="--stages", hint=hint)
    for stage in stages:
        is_whole = stage.target % 1 == 0
        require(is_whole, f"--stages: {stage.target:g} users are not whole", "--rate is for rates")
    return Timing(Closed(math.ceil(highest), stages=stages), stop, 0)


def _replay(load: LoadOptions, file: str) -> Timing:
    """As many requests as there are times in the file; -z cuts it."""
    refuse(load, "rate_per_s", "arrivals", "stages", "requests", "pool", what="--replay")
    _refuse_warmup(load, "--replay")
    from torr.sources.times import read_times

    offsets = read_times(Path(file), load.speed or 1.0)
    if load.duration_ns is not None:
        offsets = offsets[: bisect_left(offsets, load.duration_ns)]
    is_short = not offsets or offsets[-1] <= LONGEST_NS
    require(is_short, f"--replay {file}: its times lie too far apart", _LONGEST)
    connections = load.connections or DEFAULT_OPEN_CONNECTIONS
    most = load.max_in_flight or MOST_IN_FLIGHT
    return Timing(Replay(offsets, connections, most), Count(len(offsets)), 0)


def _refuse_warmup(load: LoadOptions, what: str) -> None:
    require(
        not load.warmup_ns,
        f"{what} and --warmup are both given: its load begins at once",
        "leave --warmup out",
    )
