"""Functions measured on another machine, set beside these by the speeds of both machines.

    their trials ─ scaled by how much faster this machine is ─ judged as if measured here

How much faster is known within an interval only, from the least and the most that either machine
was seen to have. A word stands where it holds at both ends of that interval and in its middle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from torr.messages.message import message
from torr.results.level import Latency

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torr.results.functions import MachineSpeed
    from torr.results.level import Level
    from torr.results.verdict import Ends, Verdict

_MACHINE = ("cpu", "architecture", "cores")
_UNKNOWN = message(
    "comparison.unknown_machine", "measured on another machine, whose speed is not known"
)
_WIDE = message(
    "comparison.other_machine",
    "measured on another machine: the speeds of both leave it open",
)


def is_another(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether two environments, as result.json has them, are of different machines.

    What one of them does not know tells nothing; where they share nothing, they are.
    """
    then, here = (found.get("machine") or {} for found in (before, now))
    known = [key for key in _MACHINE if None not in (then.get(key), here.get(key))]
    return not known or any(then[key] != here[key] for key in known)


def scales(before: MachineSpeed | None, now: MachineSpeed) -> tuple[float, float, float] | None:
    """Return how many times as fast this machine is: the middle, the least and the most.

    None where the speed of the other is not known.
    """
    if before is None:
        return None
    middle = now.median / before.median
    return middle, now.least / before.most, now.most / before.least


def scaled(level: Level, factor: float) -> Level:
    """Return a trial as it would have been on a machine so many times as fast.

    One in which everything failed has no times.
    """
    metrics = msgspec.structs.asdict(level.latency)
    latency = Latency(
        **{name: stats and stats.divided_by(factor) for name, stats in metrics.items()}
    )
    return msgspec.structs.replace(level, ok_per_s=level.ok_per_s * factor, latency=latency)


def judged(
    before: Sequence[Level],
    factors: tuple[float, float, float] | None,
    judge: Callable[[Sequence[Level]], list[Verdict]],
) -> list[Verdict]:
    """Return the verdicts of `judge` over scaled trials; no word where the ends differ in it."""
    if factors is None:
        return [
            msgspec.structs.replace(v, word="inconclusive", reason=_UNKNOWN, obstacle=_UNKNOWN)
            for v in judge(before)
        ]
    found = (judge([scaled(level, factor) for level in before]) for factor in factors)
    return [_within(*three) for three in zip(*found, strict=True)]


def _within(middle: Verdict, low: Verdict, high: Verdict) -> Verdict:
    """One verdict of three: its intervals reach from the lowest to the highest end."""
    three = (middle, low, high)
    found = msgspec.structs.replace(
        middle,
        interval=_hull([verdict.interval for verdict in three]),
        inner_interval=_hull([verdict.inner_interval for verdict in three]),
    )
    if low.word == middle.word == high.word:
        return found
    return msgspec.structs.replace(found, word="inconclusive", reason=_WIDE, more_rounds=None)


def _hull(intervals: Sequence[Ends | None]) -> Ends | None:
    """The narrowest interval around all; an end without a bound has none then."""
    if any(each is None for each in intervals):
        return None
    lows, highs = zip(*(each for each in intervals if each is not None), strict=True)
    low = None if None in lows else min(lows)
    return low, None if None in highs else max(highs)
