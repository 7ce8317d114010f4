"""The standard error of the mean of a series of values in time.

Neighbouring values are often alike: a queue, a garbage collector or another program lasts longer
than one interval. Such values say less about their mean than as many independent ones, so s/√n is
too small. The series is taken as a first-order autoregression: its lag-1 correlation, corrected for
the bias of short series (Kendall, 1954), says how many independent values it is worth (Bayley and
Hammersley, 1946).
"""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import fmean, pstdev, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST_VALUES = 6
"""Fewer values say nothing about their correlation."""
_MOST_CORRELATION = 0.95
_LEAST_WORTH = 2.0


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean; raises StatisticsError for fewer than two values.

    Values that alternate are taken as independent: the error is never less than s/√n.
    """
    if len(values) < _LEAST_VALUES:
        return stdev(values) / math.sqrt(len(values))
    worth = len(values) / _inflation(_correlation(values))
    return pstdev(values) / math.sqrt(max(worth, _LEAST_WORTH) - 1)


def _correlation(values: Sequence[float]) -> float:
    """Return the lag-1 correlation, 0 to 0.95, corrected: of short series it is too low."""
    middle = fmean(values)
    deviations = [value - middle for value in values]
    squares = math.fsum(a * a for a in deviations)
    if not squares:
        return 0.0
    plain = math.fsum(a * b for a, b in pairwise(deviations)) / squares
    count = len(values)
    return min(max((count * plain + 1) / (count - 3), 0.0), _MOST_CORRELATION)


def _inflation(correlation: float) -> float:
    """Return how many correlated values are worth one independent value."""
    return (1 + correlation) / (1 - correlation)
