"""The interval of a share of attempts that were made in several rounds.

The attempts of all rounds are added up (Clopper and Pearson, Biometrika 26, 1934, which is exact).
Rounds that differ by more than chance, such as one with all the failures, say less than as many
independent attempts. So the counts are divided by the design effect: how many times as large as
chance the variance between rounds is, and at least 1 (Rao and Scott, Biometrics 48, 1992).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Counts = tuple[float, int]
"""How many attempts of a round are of the kind, and how many there are."""


def share_interval(rounds: Sequence[Counts], alpha: float) -> tuple[float, float]:
    """Return the ends of a share from 0 to 1; each holds by itself with 1 − alpha."""
    # scipy.stats takes a second to import.
    from scipy.special import betaincinv

    effect = _design_effect(rounds)
    some, count = (sum(column) / effect for column in zip(*rounds, strict=True))
    if not count:
        return 0.0, 1.0
    others = count - some
    low = float(betaincinv(some, others + 1, alpha)) if some else 0.0
    high = float(betaincinv(some + 1, others, 1 - alpha)) if others else 1.0
    return low, high


def attempts_needed(share: float, alpha: float) -> int:
    """Return how many attempts, none of them of the kind, show that a share is lower."""
    return math.ceil(math.log(alpha) / math.log1p(-share)) if share < 1 else 1


def _design_effect(rounds: Sequence[Counts]) -> float:
    """Return how many times as large as chance the variance between rounds is; at least 1."""
    made = [(some, count) for some, count in rounds if count]
    some, count = sum(x for x, _ in made), sum(n for _, n in made)
    if len(made) < 2 or not 0 < some < count:
        return 1.0
    share = some / count
    chance = share * (1 - share)
    distances = ((x - n * share) ** 2 / (n * chance) for x, n in made)
    return max(1.0, math.fsum(distances) / (len(made) - 1))
