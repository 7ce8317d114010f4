"""The difference of two sides with its uncertainty: paired by round, or not paired.

Numbers with a natural zero are compared by the logarithm of their ratio, shares of attempts by
their difference in percentage points. Verdicts are made of it in `verdicts/judgement.py`.

A 0 on one side is an infinite difference, larger than any other; a 0 on both is no difference.
Tests by ranks accept infinite differences; means do not, so unpaired sides with a 0 have no
interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median, stdev
from typing import TYPE_CHECKING

from torr.stats import signed_rank
from torr.stats.signed_rank import UNBOUNDED, Interval
from torr.stats.welch import Welch

if TYPE_CHECKING:
    from collections.abc import Sequence

ALPHA = 0.05
"""The chance of a false finding in a family."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The difference of the candidate from the baseline, as a logarithm or in points.

    `interval` holds it with a probability of 1 − alpha, `inner` with 1 − 2·alpha; `p` is two-sided;
    `spread` is the standard deviation of the difference of two trials, None for fewer than two;
    `count` is how many pairs, or how many trials of the side with fewer.
    """

    centre: float
    interval: Interval
    inner: Interval
    p: float
    spread: float | None
    count: int
    method: str


def paired(
    before: Sequence[float], after: Sequence[float], alpha: float, *, is_share: bool
) -> Estimate:
    """Compare trials pair by pair: Hodges–Lehmann and the exact signed-rank test."""
    differences = [_difference(a, b, is_share=is_share) for a, b in zip(before, after, strict=True)]
    return Estimate(
        centre=signed_rank.hodges_lehmann(differences) if differences else 0.0,
        interval=signed_rank.interval(differences, alpha),
        inner=signed_rank.interval(differences, 2 * alpha),
        p=signed_rank.p_value(differences),
        spread=_spread(differences),
        count=len(differences),
        method="paired by round: exact signed-rank test, Hodges-Lehmann",
    )


def unpaired(
    before: Sequence[float], after: Sequence[float], alpha: float, *, is_share: bool
) -> Estimate:
    """Compare two sides that were not interleaved: Welch's test."""
    count = min(len(before), len(after))
    scale = "points" if is_share else "logarithms"
    method = f"unpaired: Welch's test on {scale}"
    sides = [[v if is_share else _log(v) for v in side] for side in (before, after)]
    if count < 2 or not all(map(math.isfinite, (*sides[0], *sides[1]))):
        centre = _difference(median(before), median(after), is_share=is_share) if count else 0.0
        return Estimate(centre, UNBOUNDED, UNBOUNDED, 1.0, None, count, method)
    test = Welch.of(*sides)
    return Estimate(
        centre=test.difference,
        interval=test.interval(alpha),
        inner=test.interval(2 * alpha),
        p=test.p_value,
        spread=math.hypot(*map(stdev, sides)),
        count=count,
        method=method,
    )


def interval_of_rounds(
    values: Sequence[float], limit: float, *, is_share: bool
) -> tuple[float, float] | None:
    """Return the 90 % interval of the number that the rounds measured, in their unit.

    It comes from comparing the rounds with the limit. None where the rounds are too few, or the
    interval has no bound.
    """
    differences = paired([limit] * len(values), values, ALPHA, is_share=is_share).inner
    if differences == UNBOUNDED:
        return None
    if is_share:
        return limit + differences[0], limit + differences[1]
    ends = [ratio_of(end) for end in differences]
    if None in ends:
        return None
    low, high = (limit * (end or 0.0) for end in ends)
    return low, high


def ratio_of(logarithm: float) -> float | None:
    """Return the ratio of a logarithm; None where it has no bound, as beside a baseline of 0."""
    try:
        ratio = math.exp(logarithm)
    except OverflowError:
        return None
    return ratio if math.isfinite(ratio) else None


def _difference(before: float, after: float, *, is_share: bool) -> float:
    if is_share or before == after:
        return after - before
    return _log(after) - _log(before)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _spread(differences: Sequence[float]) -> float | None:
    if len(differences) < 2 or not all(map(math.isfinite, differences)):
        return None
    return stdev(differences)
