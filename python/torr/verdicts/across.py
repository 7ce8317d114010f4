"""Compares functions that were measured on different machines, by the speeds of both.

Times of the other machine are scaled by the ratio of the speeds and judged as if measured here. The
ratio is only known within an interval, from the lowest and the highest speed of each machine. A
word is given where it is the same at both ends of that interval and in its middle.
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
    "measured on another machine: the difference lies within the uncertainty of the two speeds",
)


def is_another(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether two environments of result.json are of different machines.

    Only facts that both have are compared; without any, they count as different.
    """
    old, new = (environment.get("machine") or {} for environment in (before, now))
    known = [key for key in _MACHINE if None not in (old.get(key), new.get(key))]
    return not known or any(old[key] != new[key] for key in known)


def scales(before: MachineSpeed | None, now: MachineSpeed) -> tuple[float, float, float] | None:
    """Return how many times as fast this machine is: the median, the least and the most.

    None where the speed of the other is not known.
    """
    if before is None:
        return None
    middle = now.median / before.median
    return middle, now.least / before.most, now.most / before.least


def scaled(level: Level, factor: float) -> Level:
    """Return a trial with rates and times scaled to a machine `factor` times as fast.

    A trial in which every request failed has no times.
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
    """Return the verdicts of scaled trials; inconclusive where they depend on the factor."""
    if factors is None:
        return [
            msgspec.structs.replace(v, word="inconclusive", reason=_UNKNOWN, obstacle=_UNKNOWN)
            for v in judge(before)
        ]
    verdicts = (judge([scaled(level, factor) for level in before]) for factor in factors)
    return [_combined(*three) for three in zip(*verdicts, strict=True)]


def _combined(middle: Verdict, low: Verdict, high: Verdict) -> Verdict:
    """Return one verdict of three, whose intervals reach from the lowest to the highest end."""
    three = (middle, low, high)
    verdict = msgspec.structs.replace(
        middle,
        interval=_hull([verdict.interval for verdict in three]),
        inner_interval=_hull([verdict.inner_interval for verdict in three]),
    )
    if low.word == middle.word == high.word:
        return verdict
    return msgspec.structs.replace(verdict, word="inconclusive", reason=_WIDE, more_rounds=None)


def _hull(intervals: Sequence[Ends | None]) -> Ends | None:
    """Return the narrowest interval that contains all; an unbounded end stays unbounded."""
    if any(each is None for each in intervals):
        return None
    lows, highs = zip(*(each for each in intervals if each is not None), strict=True)
    low = None if None in lows else min(lows)
    return low, None if None in highs else max(highs)
