"""From flags to a pace: steady load, stages, or times written down; and until when.

Stages and times begin at once: there is no warm-up before them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.model.pace import MOST_PER_S, MOST_USERS, Closed, Open, Replay, Stage
from torr.model.plan import Count, Duration
from torr.units import LONGEST_NS, SECOND_NS, format_duration

if TYPE_CHECKING:
    from torr.model.pace import Pace

Flags = dict[str, Any]

DEFAULT_DURATION_NS = 10 * SECOND_NS
DEFAULT_WARMUP_NS = 2 * SECOND_NS
DEFAULT_USERS = 50
DEFAULT_OPEN_CONNECTIONS = 100
# What is due waits in memory for its turn: so much of it takes 0.2 GB.
MOST_IN_FLIGHT = 5_000_000

_LONGEST = f"the longest is {format_duration(LONGEST_NS)}, ten years"
_NAMES = {"duration": "-z/--duration", "connections": "-c/--connections"}


@dataclass(frozen=True, slots=True)
class Timing:
    """When requests start, until when, and how long before the measured window."""

    pace: Pace
    stop: Duration | Count
    warmup_ns: int


def timing_of(flags: Flags) -> Timing:
    """What the flags of the load say; raises UsageError that names the flag."""
    if flags.get("replay") is not None:
        return _replay(flags)
    _needs(flags, "speed", "--replay", "add --replay FILE")
    if flags.get("rate") is None:
        for name in ("arrivals", "max_in_flight"):
            _needs(flags, name, "--rate", "add --rate 1000")
    else:
        _refuse(flags, "--rate", "pool")
    if flags.get("stages") is not None:
        return _stages(flags)
    warmup_ns = flags["warmup"]
    return Timing(
        _steady(flags), _stop(flags), DEFAULT_WARMUP_NS if warmup_ns is None else warmup_ns
    )


def has_stages(pace: Pace) -> bool:
    """Whether what it sends changes with time."""
    return not isinstance(pace, Replay) and bool(pace.stages)


def _steady(flags: Flags) -> Pace:
    rate = flags.get("rate")
    if rate is None:
        pool = flags.get("pool")
        users = flags.get("connections") or max(DEFAULT_USERS, pool or 0)
        return Closed(users, pool, spawn_rate=flags.get("spawn_rate"))
    return _open(flags, rate)


def _open(flags: Flags, rate: float, stages: tuple[Stage, ...] = ()) -> Open:
    if rate == 0:
        raise UsageError("--rate: '0' requests a second is no load", "write 500, 10k or 200/s")
    return Open(
        rate_per_s=rate,
        arrivals=flags["arrivals"] or "constant",
        connections=flags["connections"] or DEFAULT_OPEN_CONNECTIONS,
        max_in_flight=flags["max_in_flight"] or MOST_IN_FLIGHT,
        stages=stages,
    )


def _stop(flags: Flags) -> Duration | Count:
    requests = flags.get("requests")
    if requests is None:
        return Duration(flags["duration"] or DEFAULT_DURATION_NS)
    _refuse(flags, "--requests", "duration", hint="give one stop")
    return Count(requests)


def _stages(flags: Flags) -> Timing:
    """Users that come and go, or with --rate a rate that does; it starts where -c or it says."""
    _refuse(flags, "--stages", "duration", "requests", hint="the stages say how long")
    _refuse_warmup(flags, "--stages")
    stages: tuple[Stage, ...] = flags["stages"]
    lasts_ns = sum(stage.duration_ns for stage in stages)
    require(lasts_ns <= LONGEST_NS, "--stages: all of them together are too long", _LONGEST)
    stop = Duration(lasts_ns)
    rate = flags["rate"]
    start = flags["connections"] if rate is None else rate
    if start:
        stages = (Stage(0, start), *stages)
    highest = max(stage.target for stage in stages)
    most, what = (MOST_USERS, "users") if rate is None else (MOST_PER_S, "requests/s")
    said = f"--stages: {highest:,.0f} {what} are too many"
    require(highest <= most, said, f"the most is {most:,}")
    if rate is not None:
        return Timing(_open(flags, highest, stages), stop, 0)
    _refuse(flags, "--stages", "pool", hint="users who share connections are there from the start")
    _refuse(
        flags,
        "--stages",
        "connections_per_second",
        hint="users connect when their stage starts them",
    )
    for stage in stages:
        is_whole = stage.target % 1 == 0
        require(is_whole, f"--stages: {stage.target:g} users are not whole", "--rate is for rates")
    return Timing(Closed(math.ceil(highest), stages=stages), stop, 0)


def _replay(flags: Flags) -> Timing:
    """As many requests as there are times in the file; -z cuts it."""
    _refuse(flags, "--replay", "rate", "arrivals", "stages", "requests", "pool")
    _refuse_warmup(flags, "--replay")
    from torr.sources.times import read_times

    offsets = read_times(Path(flags["replay"]), flags["speed"] or 1.0)
    if flags["duration"] is not None:
        offsets = offsets[: bisect_left(offsets, flags["duration"])]
    is_short = not offsets or offsets[-1] <= LONGEST_NS
    require(is_short, f"--replay {flags['replay']}: its times lie too far apart", _LONGEST)
    connections = flags["connections"] or DEFAULT_OPEN_CONNECTIONS
    most = flags["max_in_flight"] or MOST_IN_FLIGHT
    return Timing(Replay(offsets, connections, most), Count(len(offsets)), 0)


def _refuse_warmup(flags: Flags, what: str) -> None:
    require(
        not flags["warmup"],
        f"{what} and --warmup are both given: its load begins at once",
        "leave --warmup out",
    )


def _refuse(flags: Flags, what: str, *others: str, hint: str = "leave one out") -> None:
    """Refuse flags that contradict another one."""
    for name in others:
        first, second = _name(name), what
        require(flags.get(name) is None, f"{first} and {second} are both given", hint)


def _needs(flags: Flags, name: str, what: str, hint: str) -> None:
    require(flags.get(name) is None, f"{_name(name)} needs {what}", hint)


def _name(name: str) -> str:
    return _NAMES.get(name, f"--{name.replace('_', '-')}")
