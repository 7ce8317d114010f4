"""Whether a target answers every request with one status that fails, such as 401."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.level import Interval


def failed_status(intervals: Sequence[Interval]) -> str | None:
    """Return the status that every response has and that fails; None if others ended otherwise."""
    statuses = {status for interval in intervals for status in interval.statuses}
    errors = {name for interval in intervals for name in interval.counts.errors}
    has_ok = any(interval.counts.ok for interval in intervals)
    if has_ok or errors - {"status"} or len(statuses) != 1:
        return None
    return statuses.pop()
