"""The exact Wilcoxon signed-rank test, and what is estimated by the same ranks.

Of paired differences: the two-sided p of "they lie symmetrically about 0", their middle by Hodges
and Lehmann, and intervals by the ordered Walsh averages (Hollander, Wolfe and Chicken,
Nonparametric Statistical Methods, 2014, chapter 3). Every p is counted out over all signs, never
approximated: ties share their mid-rank, and a zero keeps its rank and counts half for either side.
Differences may be infinite, as where one side answered nothing: they are the largest of all.
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

# Logarithms of ratios that lie nearer to each other are the same but for rounding.
_DIGITS = 12
# Stands for infinity in sums: no finite logarithm of a ratio comes near it.
_FAR = 1e9


def p_value(differences: Sequence[float]) -> float:
    """Return the exact two-sided p; 1 where there is no difference at all."""
    magnitudes = [round(abs(d), _DIGITS) for d in differences]
    ranks = doubled_ranks(magnitudes)
    signed = [(rank, d > 0) for rank, m, d in zip(ranks, magnitudes, differences, strict=True) if m]
    if not signed:
        return 1.0
    chances = _chances(tuple(sorted(rank for rank, _ in signed)))
    seen = sum(rank for rank, is_positive in signed if is_positive)
    return min(1.0, 2 * min(math.fsum(chances[: seen + 1]), math.fsum(chances[seen:])))


def doubled_ranks(magnitudes: Sequence[float]) -> list[int]:
    """Return twice the mid-rank of each, from 2 on: integers, since mid-ranks are halves."""
    order = sorted(magnitudes)
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for place, value in enumerate(order, 1):
        first.setdefault(value, place)
        last[value] = place
    return [first[value] + last[value] for value in magnitudes]


def walsh_averages(differences: Sequence[float]) -> list[float]:
    """Return the averages of all pairs, each with itself too, ascending: n(n+1)/2 of them."""
    near = [max(-_FAR, min(_FAR, d)) for d in differences]
    sums = ((a + b) / 2 for at, a in enumerate(near) for b in near[at:])
    return sorted(math.copysign(math.inf, s) if abs(s) > _FAR / 4 else s for s in sums)


def hodges_lehmann(differences: Sequence[float]) -> float:
    """Return the median of the Walsh averages; raises ValueError without a difference."""
    if not differences:
        raise ValueError("the middle of no difference")
    found = median(walsh_averages(differences))
    # Two infinities that cancel leave nothing known.
    return 0.0 if math.isnan(found) else found


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
    """The largest k with P(W⁺ < k) ≤ alpha / 2: the k-th Walsh averages from both ends."""
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
    """How likely each sum of the positive ranks is, when every sign is as likely as the other."""
    import numpy as np

    chances = np.zeros(sum(ranks) + 1)
    chances[0] = 1.0
    top = 0
    for rank in ranks:
        # Ends overlap: the right side is whole before anything is written.
        chances[rank : top + rank + 1] = chances[rank : top + rank + 1] + chances[: top + 1]
        top += rank
        chances[: top + 1] /= 2
    found: list[float] = chances.tolist()
    return found
