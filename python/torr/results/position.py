"""The position of a level among others: its users or connections, or the rate of its arrivals.

Levels are sorted, grouped, joined and named by their position, never by one of these numbers.
"""

from __future__ import annotations

from torr.results.base import Amount, Count

Position = Count | Amount
"""A number of users or connections, which is whole."""


def position_of(concurrency: int | None) -> Position:
    """Return the position of a level by the numbers that a part of a result has of it."""
    return concurrency or 0
