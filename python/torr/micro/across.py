"""Functions measured on another machine, set beside these by the speeds of both machines.

    their trials ─ scaled by how much faster this machine is ─ judged as if measured here

How much faster is known within an interval only, from the least and the most that either machine
was seen to have. A word stands where it holds at both ends of that interval and in its middle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Level = dict[str, Any]
Verdict = dict[str, Any]
Json = Mapping[str, Any]

_MACHINE = ("cpu", "architecture", "cores")
_NO_TIMES = frozenset({"n", "within_stdev_rate"})
_UNKNOWN = "measured on another machine, whose speed is not known"
_WIDE = "measured on another machine: the speeds of both leave it open"


def is_another(before: Json, now: Json) -> bool:
    """Return whether two environments, as result.json has them, are of different machines.

    What one of them does not know tells nothing; where they share nothing, they are.
    """
    then, here = (found.get("machine") or {} for found in (before, now))
    known = [key for key in _MACHINE if None not in (then.get(key), here.get(key))]
    return not known or any(then[key] != here[key] for key in known)


def scales(before: Json | None, now: Json) -> tuple[float, float, float] | None:
    """Return how many times as fast this machine is: the middle, the least and the most.

    `before` and `now` are speeds as result.json has them; None where the other is not known.
    """
    if not before:
        return None
    middle = now["median"] / before["median"]
    return middle, now["least"] / before["most"], now["most"] / before["least"]


def scaled(level: Level, factor: float) -> Level:
    """Return a trial as it would have been on a machine so many times as fast.

    One in which everything failed has no times.
    """
    latency = {
        name: stats and {key: _faster(key, value, factor) for key, value in stats.items()}
        for name, stats in level["latency"].items()
    }
    return {**level, "ok_per_s": level["ok_per_s"] * factor, "latency": latency}


def judged(
    before: Sequence[Level],
    factors: tuple[float, float, float] | None,
    judge: Callable[[Sequence[Level]], list[Verdict]],
) -> list[Verdict]:
    """Return the verdicts of `judge` over scaled trials; no word where the ends differ in it."""
    if factors is None:
        open_ones = {"word": "inconclusive", "reason": _UNKNOWN, "obstacle": _UNKNOWN}
        return [{**verdict, **open_ones} for verdict in judge(before)]
    found = (judge([scaled(level, factor) for level in before]) for factor in factors)
    return [_within(*three) for three in zip(*found, strict=True)]


def _within(middle: Verdict, low: Verdict, high: Verdict) -> Verdict:
    """One verdict of three: its intervals reach from the lowest to the highest end."""
    found = dict(middle)
    for key in ("interval", "inner_interval"):
        found[key] = _hull([each[key] for each in (middle, low, high)])
    words = {each["word"] for each in (middle, low, high)}
    if len(words) > 1:
        found |= {"word": "inconclusive", "reason": _WIDE, "more_rounds": None}
    return found


def _hull(intervals: Sequence[Sequence[float | None] | None]) -> list[float | None] | None:
    """The narrowest interval around all; an end without a bound has none then."""
    if any(each is None for each in intervals):
        return None
    lows, highs = zip(*(each for each in intervals if each is not None), strict=True)
    low = None if None in lows else min(lows)
    return [low, None if None in highs else max(highs)]


def _faster(key: str, value: float | None, factor: float) -> float | None:
    """A time on the faster machine; what is no time stays."""
    return value if value is None or key in _NO_TIMES else value / factor
