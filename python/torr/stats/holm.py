"""Holm's adjustment: one chance of a false finding for a whole family of tests.

S. Holm, A simple sequentially rejective multiple test procedure, 1979.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def adjusted(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p-values in the given order: each at least its own p, at most 1."""
    results = [1.0] * len(p_values)
    highest = 0.0
    ascending = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for rank, index in enumerate(ascending):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        results[index] = highest
    return results
