"""The position of a level among others: its users or connections, or the rate of its arrivals.

Levels are sorted, grouped, joined and named by their position, never by one of these numbers. A
level whose whole load is an open loop lies at its rate, any other one at its users or connections.
"""

from __future__ import annotations

from msgspec import UnsetType

from torr.results.base import Amount, Count

Position = Count | Amount
"""A number of users or connections, or of arrivals per second; whole numbers are integers."""

ARRIVAL = "arrival"
"""The noun of positions that are rates."""
TRACE = "trace"
"""The noun of levels whose requests start at the times of a trace."""
OF_ARRIVALS = "arrivals per second; absent where levels are numbers of users or connections"

_DIGITS = 9
"""Significant digits of a rate: a sum of the rates of groups may be off in the last ones."""


def position_of(concurrency: int | None, rate: float | UnsetType | None = None) -> Position:
    """Return the position of a level by the numbers that a part of a result has of it."""
    if rate is None or isinstance(rate, UnsetType):
        return concurrency or 0
    rounded = float(f"{rate:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded
