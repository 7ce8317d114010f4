"""Leave Locust's statistics as they are when they are written as JSON.

Locust resets each entry that it writes as JSON, as after the report of a worker: the table and the
CSV files that follow would have no requests.

"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from locust import stats as locust_stats

if TYPE_CHECKING:
    from collections.abc import Callable

    from locust.stats import RequestStats

_WRITERS = ("print_stats_json", "save_stats_json")  # the second is missing in older versions


class _Kept:
    """Statistics that are not reset when they are serialized."""

    def __init__(self, statistics: RequestStats) -> None:
        self._entries = statistics.entries

    def serialize_stats(self) -> list[Any]:
        """Return the entries with requests or failures."""
        entries = self._entries.values()
        return [each.serialize() for each in entries if each.num_requests or each.num_failures]


def patch_json_writers() -> None:
    """Replace the functions with which Locust's main writes JSON.

    This must be called before Locust's main.
    """
    for name in _WRITERS:
        write = getattr(locust_stats, name, None)
        if write is not None:
            setattr(locust_stats, name, _without_reset(write))


def _without_reset(write: Callable[..., None]) -> Callable[..., None]:
    @wraps(write)
    def written(statistics: RequestStats, *arguments: Any) -> None:
        write(_Kept(statistics), *arguments)

    return written
