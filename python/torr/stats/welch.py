"""Two sides whose trials are not paired: Welch's test, and what differs between their means.

It allows each side a spread of its own (Welch, The generalization of Student's problem, 1947). It
cannot see drift: what changed between the two sides besides what is compared is in its difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import mean, variance
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Welch:
    """The difference of two means, its standard error, and the degrees of freedom of both."""

    difference: float
    error: float
    freedom: float

    @classmethod
    def of(cls, before: Sequence[float], after: Sequence[float]) -> Welch:
        """Compare two sides of at least two values each; raises StatisticsError for fewer."""
        parts = [variance(side) / len(side) for side in (before, after)]
        error = math.sqrt(sum(parts))
        weights = [
            part**2 / (len(side) - 1) for part, side in zip(parts, (before, after), strict=True)
        ]
        freedom = sum(parts) ** 2 / sum(weights) if sum(weights) else math.inf
        return cls(mean(after) - mean(before), error, freedom)

    @property
    def p_value(self) -> float:
        """The two-sided p; without any spread 1 or 0, as the means are equal or not."""
        if not self.error:
            return 1.0 if self.difference == 0 else 0.0
        # scipy.stats takes a second to import.
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, -abs(self.difference) / self.error))

    def interval(self, alpha: float) -> Interval:
        """Return the interval of the difference that holds it with a probability of 1 − alpha."""
        if not self.error:
            return self.difference, self.difference
        from scipy.special import stdtrit

        reach = -float(stdtrit(self.freedom, alpha / 2)) * self.error
        return self.difference - reach, self.difference + reach
