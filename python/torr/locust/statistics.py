"""Count requests in the engine, and add the counts to Locust's statistics when these are read.

If only Locust and torr listen to Locust's request event, the engine counts the requests, and the
event is not fired. A listener of the locustfile gets every request: with
one, the direct counter is not used.

"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent
from locust import stats as locust_stats
from locust.stats import RequestStats

from torr.locust.tallies import Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from locust.env import Environment

    from torr.locust.reactor import Call
    from torr.locust.recorder import RequestRecorder

# The listener that adds to Locust's statistics: the only one that the direct counter replaces.
_LOCUST_LISTENER = "Runner.__init__.<locals>.on_request"
BUCKET_FUNCTION = getattr(locust_stats, "bucket_response_time", None)
# A locustfile may generate any number of names.
_MAX_NAMES = 10_000
_INTERVAL_S = 0.5

Listeners = list["Callable[..., object]"]


class LocustStatistics(RequestStats):
    """Locust's statistics, which include the engine's counts whenever they are read."""

    direct_counter: DirectCounter

    @property
    def total(self) -> Any:
        """Return the entry of all requests."""
        self.direct_counter.flush()
        return self._total

    @total.setter
    def total(self, entry: Any) -> None:
        self._total = entry

    @property
    def entries(self) -> Any:
        """Return the entry of each name and method."""
        self.direct_counter.flush()
        return self._entries

    @entries.setter
    def entries(self, entries: Any) -> None:
        self._entries = entries

    def reset_all(self) -> None:
        """Reset all counts, the engine's too."""
        self.direct_counter.discard()
        super().reset_all()

    def clear_all(self) -> None:
        """Reset all counts, and drop all entries."""
        self.direct_counter.discard()
        super().clear_all()


class DirectCounter:
    """Counts requests in the engine instead of firing Locust's request event."""

    def __init__(self, environment: Environment, recorder: RequestRecorder) -> None:
        self._recorder = recorder
        self._listeners = environment.events.request._handlers  # noqa: SLF001
        locust_listeners = [
            listener
            for listener in self._listeners
            if getattr(listener, "__qualname__", "") == _LOCUST_LISTENER
        ]
        # With any other listener, the event is fired for every request.
        self._expected_listeners: Listeners = [*locust_listeners[:1], self._listeners[-1]]
        self._counts = Counts()
        self._names: dict[tuple[str, str], tuple[int, int]] = {}
        self._keys: list[tuple[str, str]] = []
        self._stats = install_statistics(environment, self)

    def is_active(self) -> bool:
        """Return whether only Locust and torr listen to the request event."""
        return self._listeners == self._expected_listeners and BUCKET_FUNCTION is getattr(
            locust_stats, "bucket_response_time", None
        )

    def count(self, method: str, name: str, call: Call, elapsed_ms: float) -> None:
        """Count a successful request."""
        key = (name, method)
        row_and_number = self._names.get(key)
        if row_and_number is None:
            row_and_number = self._add_name(key)
        row, number = row_and_number
        self._recorder.tally.record_request(row, call, elapsed_ms)
        self._counts.add(number, elapsed_ms, call.body_length)

    def flush(self) -> None:
        """Add the counts to Locust's entries."""
        if not self._counts.has_some():
            return
        for number, counts in self._counts.take():
            add_counts(self._stats._total, counts)  # noqa: SLF001
            add_counts(self._stats._entries[self._keys[number]], counts)  # noqa: SLF001

    def flush_periodically(self) -> None:
        """Add the counts to Locust's entries twice a second; Locust's charts show each second."""
        while True:
            gevent.sleep(_INTERVAL_S)
            self.flush()

    def discard(self) -> None:
        """Drop the counts."""
        self._counts.take()

    def _add_name(self, key: tuple[str, str]) -> tuple[int, int]:
        if len(self._names) >= _MAX_NAMES:
            self.flush()
            self._names.clear()
            self._keys.clear()
        name, method = key
        row = self._recorder.row(str(method), str(name), is_event=False)
        self._keys.append(key)
        row_and_number = self._names[key] = (row, len(self._keys) - 1)
        return row_and_number


def install_statistics(environment: Environment, direct_counter: DirectCounter) -> Any:
    """Make the environment's statistics an instance of LocustStatistics, and return them."""
    stats = environment.stats
    total, entries = stats.__dict__.pop("total"), stats.__dict__.pop("entries")
    stats.__class__ = LocustStatistics
    stats.direct_counter = direct_counter
    stats.total, stats.entries = total, entries
    return stats


def add_counts(entry: Any, counts: Any) -> None:
    """Add counts to an entry, with the result of calling the entry's `log` for each request."""
    requests, total, minimum, maximum, length, last, buckets, seconds = counts
    previous = entry.last_request_timestamp
    if entry.use_response_times_cache and previous and int(last) > int(previous):
        entry._cache_response_times(int(last) - 1)  # noqa: SLF001
    entry.num_requests += requests
    entry.last_request_timestamp = max(previous or 0.0, last)
    entry.total_response_time += total
    known_min = entry.min_response_time
    entry.min_response_time = minimum if known_min is None else min(known_min, minimum)
    entry.max_response_time = max(entry.max_response_time, maximum)
    entry.total_content_length += length
    for bucket, count in buckets.items():
        entry.response_times[bucket] += count
    for second, count in seconds.items():
        entry.num_reqs_per_sec[second] += count
