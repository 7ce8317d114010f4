"""Two sides whose trials are not paired: Welch's test, and the difference of their means.

Each side may have a spread of its own (Welch, The generalization of Student's problem, 1947). The
difference contains drift: all that changed between the two sides.
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
    degrees_of_freedom: float

    @classmethod
    def of(cls, before: Sequence[float], after: Sequence[float]) -> Welch:
        """Compare two sides of at least two values each; raises StatisticsError for fewer."""
        parts = [variance(side) / len(side) for side in (before, after)]
        error = math.sqrt(sum(parts))
        weights = [
            part**2 / (len(side) - 1) for part, side in zip(parts, (before, after), strict=True)
        ]
        degrees = sum(parts) ** 2 / sum(weights) if sum(weights) else math.inf
        return cls(mean(after) - mean(before), error, degrees)

    @property
    def p_value(self) -> float:
        """Return the two-sided p; without any spread 1 for equal means and 0 for others."""
        if not self.error:
            return 1.0 if self.difference == 0 else 0.0
        # scipy.stats takes a second to import.
        from scipy.special import stdtr

        return float(2 * stdtr(self.degrees_of_freedom, -abs(self.difference) / self.error))

    def interval(self, alpha: float) -> Interval:
        """Return the interval of the difference that holds it with a probability of 1 − alpha."""
        if not self.error:
            return self.difference, self.difference
        from scipy.special import stdtrit

        margin = -float(stdtrit(self.degrees_of_freedom, alpha / 2)) * self.error
        return self.difference - margin, self.difference + margin
