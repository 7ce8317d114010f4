"""The pace and the stop of a load, from its options: steady load, stages, or a replay of times.

Stages and replays begin without a warm-up.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.pace import MOST_PER_S, MOST_USERS, Closed, Open, Replay, Stage
from torr.model.plan import Count, Duration
from torr.options.definition import refuse, require_for
from torr.units import LONGEST_NS, SECOND_NS, format_duration

if TYPE_CHECKING:
    from torr.model.pace import Pace
    from torr.model.plan import Stop
    from torr.options.connection import ConnectionOptions
    from torr.options.load import LoadOptions

DEFAULT_DURATION_NS = 10 * SECOND_NS
DEFAULT_WARMUP_NS = 2 * SECOND_NS
DEFAULT_USERS = 50
DEFAULT_OPEN_CONNECTIONS = 100
# Requests that are due wait in memory; this number takes 0.2 GB.
MOST_IN_FLIGHT = 5_000_000

_LONGEST = say(
    "the maximum is {format_duration}, ten years", format_duration=format_duration(LONGEST_NS)
)


@dataclass(frozen=True, slots=True)
class Timing:
    """The pace of requests, their stop, and the time before the measurement window."""

    pace: Pace
    stop: Stop
    warmup_ns: int


def timing_of(
    load: LoadOptions, connection: ConnectionOptions, spawn_rate: float | None = None
) -> Timing:
    """Return the pace and stop of a load's options; raise UsageError that names the flag.

    With a `spawn_rate`, this many steady users begin per second.
    """
    if load.replay is not None:
        return _replay(load, load.replay)
    require_for(load, "speed", what="--replay", hint=say("add --replay FILE"))
    if load.rate_per_s is None:
        require_for(load, "arrivals", "max_in_flight", what="--rate", hint=say("add --rate 1000"))
    else:
        refuse(load, "pool", what="--rate")
    if load.stages is not None:
        return _stages(load, load.stages, connection)
    warmup_ns = DEFAULT_WARMUP_NS if load.warmup_ns is None else load.warmup_ns
    return Timing(_steady(load, spawn_rate), _stop(load), warmup_ns)


def _steady(load: LoadOptions, spawn_rate: float | None) -> Pace:
    if load.rate_per_s is not None:
        return _open(load, load.rate_per_s)
    users = load.connections or max(DEFAULT_USERS, load.pool or 0)
    return Closed(users, load.pool, spawn_rate=spawn_rate)


def _open(load: LoadOptions, rate_per_s: float, stages: tuple[Stage, ...] = ()) -> Open:
    if rate_per_s == 0:
        raise UsageError(say("--rate: '0' is not a rate above 0"), say("write 500, 10k or 200/s"))
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
    refuse(load, "duration_ns", what="--requests", hint=say("give one stop"))
    return Count(load.requests)


def _stages(load: LoadOptions, stages: tuple[Stage, ...], connection: ConnectionOptions) -> Timing:
    """Return users in stages, or with --rate a rate in stages; -c or --rate is the first number."""
    hint = say("the stages set the length of the load")
    refuse(load, "duration_ns", "requests", what="--stages", hint=hint)
    refuse_warmup(load, "--stages")
    duration_ns = sum(stage.duration_ns for stage in stages)
    require(duration_ns <= LONGEST_NS, say("--stages: all of them together are too long"), _LONGEST)
    stop = Duration(duration_ns)
    rate_per_s = load.rate_per_s
    start = load.connections if rate_per_s is None else rate_per_s
    if start:
        stages = (Stage(0, start), *stages)
    highest = max(stage.target for stage in stages)
    largest, unit = (MOST_USERS, "users") if rate_per_s is None else (MOST_PER_S, "requests/s")
    problem = say("--stages: {highest:,.0f} {unit} are too many", highest=highest, unit=unit)
    require(highest <= largest, problem, say("the maximum is {largest:,}", largest=largest))
    if rate_per_s is not None:
        return Timing(_open(load, highest, stages), stop, 0)
    hint = say("users who share connections all start at once")
    refuse(load, "pool", what="--stages", hint=hint)
    hint = say("users connect when their stage starts them")
    refuse(connection, "connections_per_second", what="--stages", hint=hint)
    for stage in stages:
        is_whole = stage.target % 1 == 0
        require(
            is_whole,
            say("--stages: {target:g} users are not whole", target=stage.target),
            say("use --rate for numbers that are not whole"),
        )
    return Timing(Closed(math.ceil(highest), stages=stages), stop, 0)


def _replay(load: LoadOptions, file: str) -> Timing:
    """Return the replay of the times of a file, up to the duration."""
    refuse(load, "rate_per_s", "arrivals", "stages", "requests", "pool", what="--replay")
    refuse_warmup(load, "--replay")
    from torr.sources.times import read_times

    offsets = read_times(Path(file), load.speed or 1.0)
    if load.duration_ns is not None:
        offsets = offsets[: bisect_left(offsets, load.duration_ns)]
    is_short = not offsets or offsets[-1] <= LONGEST_NS
    require(is_short, say("--replay {file}: its times lie too far apart", file=file), _LONGEST)
    connections = load.connections or DEFAULT_OPEN_CONNECTIONS
    max_in_flight = load.max_in_flight or MOST_IN_FLIGHT
    return Timing(Replay(offsets, connections, max_in_flight), Count(len(offsets)), 0)


def refuse_warmup(load: LoadOptions, flag: str) -> None:
    """Refuse a warm-up of a load that begins at once."""
    require(
        not load.warmup_ns,
        say("{flag} and --warmup are both given: its load begins at once", flag=flag),
        say("leave --warmup out"),
    )
