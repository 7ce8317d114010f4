"""The exact Wilcoxon signed-rank test, and estimates by the same ranks.

Of paired differences: the two-sided p of "they lie symmetrically about 0", their middle by Hodges
and Lehmann, and intervals by the ordered Walsh averages (Hollander, Wolfe and Chicken,
Nonparametric Statistical Methods, 2014, chapter 3). Every p is counted over all signs, never
approximated: ties share their mid-rank, and a zero keeps its rank and counts half for either side.
Infinite differences, as where one side answered nothing, are the largest of all.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Interval = tuple[float, float]

UNBOUNDED: Interval = (-math.inf, math.inf)

# Logarithms of ratios that differ less are equal up to rounding errors.
_DIGITS = 12
# Replaces infinity in sums; finite logarithms of ratios are far smaller.
_INFINITE = 1e9


def p_value(differences: Sequence[float]) -> float:
    """Return the exact two-sided p; 1 where there is no difference at all."""
    magnitudes = [round(abs(d), _DIGITS) for d in differences]
    ranks = doubled_ranks(magnitudes)
    signed = [(rank, d > 0) for rank, m, d in zip(ranks, magnitudes, differences, strict=True) if m]
    if not signed:
        return 1.0
    chances = _chances(tuple(sorted(rank for rank, _ in signed)))
    observed = sum(rank for rank, is_positive in signed if is_positive)
    return min(1.0, 2 * min(math.fsum(chances[: observed + 1]), math.fsum(chances[observed:])))


def doubled_ranks(magnitudes: Sequence[float]) -> list[int]:
    """Return twice the mid-rank of each value: integers from 2 on, since mid-ranks are halves."""
    order = sorted(magnitudes)
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for rank, value in enumerate(order, 1):
        first.setdefault(value, rank)
        last[value] = rank
    return [first[value] + last[value] for value in magnitudes]


def walsh_averages(differences: Sequence[float]) -> list[float]:
    """Return the averages of all pairs, each with itself too, ascending: n(n+1)/2 of them."""
    finite = [max(-_INFINITE, min(_INFINITE, d)) for d in differences]
    averages = ((a + b) / 2 for index, a in enumerate(finite) for b in finite[index:])
    return sorted(math.copysign(math.inf, x) if abs(x) > _INFINITE / 4 else x for x in averages)


def hodges_lehmann(differences: Sequence[float]) -> float:
    """Return the median of the Walsh averages; raises ValueError without a difference."""
    if not differences:
        raise ValueError("the middle of no difference")
    middle = median(walsh_averages(differences))
    # The mean of both infinities is not a number.
    return 0.0 if math.isnan(middle) else middle


def interval(differences: Sequence[float], alpha: float) -> Interval:
    """Return the interval that holds the middle with a probability of at least 1 − alpha.

    Unbounded where there are too few differences for any such interval.
    """
    depth = _depth(len(differences), alpha)
    if not depth:
        return UNBOUNDED
    averages = walsh_averages(differences)
    return averages[depth - 1], averages[-depth]


@lru_cache(maxsize=256)
def _depth(count: int, alpha: float) -> int:
    """Return the largest k with P(W⁺ < k) ≤ alpha / 2; the k-th averages are the ends."""
    chances = _chances(tuple(range(2, 2 * count + 2, 2)))[::2]
    depth, below = 0, 0.0
    for chance in chances:
        below += chance
        if below > alpha / 2:
            break
        depth += 1
    return depth


@lru_cache(maxsize=128)
def _chances(ranks: tuple[int, ...]) -> list[float]:
    """Return the probability of each sum of the positive ranks where both signs are as likely."""
    import numpy as np

    chances = np.zeros(sum(ranks) + 1)
    chances[0] = 1.0
    top = 0
    for rank in ranks:
        # Both slices overlap: NumPy computes the right side before it writes.
        chances[rank : top + rank + 1] = chances[rank : top + rank + 1] + chances[: top + 1]
        top += rank
        chances[: top + 1] /= 2
    probabilities: list[float] = chances.tolist()
    return probabilities
