"""Locust's statistics, counted by the engine until somebody looks.

Most requests have nobody to hear of them but Locust's own listener and torr's: they are counted
here, and are in Locust's entries as soon as anybody asks for those. A listener of the locustfile
hears of every request: with one, nothing takes this way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent
from locust import stats as locust_stats
from locust.stats import RequestStats

from torr.locust.ledger import Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from locust.env import Environment

    from torr.locust.bookkeeper import Bookkeeper
    from torr.locust.reactor import Call

# Who adds to Locust's statistics: the one listener that can be counted for.
_OWN_LISTENER = "Runner.__init__.<locals>.on_request"
ROUNDED = getattr(locust_stats, "bucket_response_time", None)
# Names that a locustfile makes up have no end.
_MOST_NAMES = 10_000
_EVERY_S = 0.5

Heard = list["Callable[..., object]"]


class LocustStatistics(RequestStats):
    """Locust's statistics, which take in what was counted elsewhere before they are looked at."""

    shortcut: Shortcut

    @property
    def total(self) -> Any:
        """The entry of all requests."""
        self.shortcut.hand_over()
        return self._total

    @total.setter
    def total(self, entry: Any) -> None:
        self._total = entry

    @property
    def entries(self) -> Any:
        """The entry of each name and method."""
        self.shortcut.hand_over()
        return self._entries

    @entries.setter
    def entries(self, entries: Any) -> None:
        self._entries = entries

    def reset_all(self) -> None:
        """Forget what was counted, here and elsewhere."""
        self.shortcut.forget()
        super().reset_all()

    def clear_all(self) -> None:
        """The same, and all entries."""
        self.shortcut.forget()
        super().clear_all()


class Shortcut:
    """The way past Locust's event, for as long as nobody else listens."""

    def __init__(self, environment: Environment, books: Bookkeeper) -> None:
        self._books = books
        self._listeners = environment.events.request._handlers  # noqa: SLF001
        own = [x for x in self._listeners if getattr(x, "__qualname__", "") == _OWN_LISTENER]
        # Others are none of ours: with one of them, every request is fired.
        self._expected: Heard = [*own[:1], self._listeners[-1]]
        self._counts = Counts()
        self._names: dict[tuple[str, str], tuple[int, int]] = {}
        self._keys: list[tuple[str, str]] = []
        self._stats = watched(environment, self)

    def is_open(self) -> bool:
        """Whether a request that went well may take it."""
        return self._listeners == self._expected and ROUNDED is getattr(
            locust_stats, "bucket_response_time", None
        )

    def count(self, method: str, name: str, call: Call, took_ms: float) -> None:
        """Count a request that went well."""
        key = (name, method)
        known = self._names.get(key)
        if known is None:
            known = self._known(key)
        row, number = known
        self._books.ledger.book(row, call, took_ms)
        self._counts.add(number, took_ms, call.body_length)

    def hand_over(self) -> None:
        """Put what was counted into Locust's entries."""
        if not self._counts.has_some():
            return
        for number, counted in self._counts.take():
            add(self._stats._total, counted)  # noqa: SLF001
            add(self._stats._entries[self._keys[number]], counted)  # noqa: SLF001

    def keep_up(self) -> None:
        """Hand over twice a second: Locust keeps what each second was like."""
        while True:
            gevent.sleep(_EVERY_S)
            self.hand_over()

    def forget(self) -> None:
        """Drop what was counted."""
        self._counts.take()

    def _known(self, key: tuple[str, str]) -> tuple[int, int]:
        if len(self._names) >= _MOST_NAMES:
            self.hand_over()
            self._names.clear()
            self._keys.clear()
        name, method = key
        row = self._books.row(str(method), str(name), is_event=False)
        self._keys.append(key)
        known = self._names[key] = (row, len(self._keys) - 1)
        return known


def watched(environment: Environment, shortcut: Shortcut) -> Any:
    """The environment's statistics, from now on those of the class above."""
    stats = environment.stats
    total, entries = stats.__dict__.pop("total"), stats.__dict__.pop("entries")
    stats.__class__ = LocustStatistics
    stats.shortcut = shortcut
    stats.total, stats.entries = total, entries
    return stats


def add(entry: Any, counted: Any) -> None:
    """Add what was counted to an entry, as its own `log` would have, one by one."""
    requests, total, least, most, length, last, buckets, seconds = counted
    before = entry.last_request_timestamp
    if entry.use_response_times_cache and before and int(last) > int(before):
        entry._cache_response_times(int(last) - 1)  # noqa: SLF001
    entry.num_requests += requests
    entry.last_request_timestamp = max(before or 0.0, last)
    entry.total_response_time += total
    known = entry.min_response_time
    entry.min_response_time = least if known is None else min(known, least)
    entry.max_response_time = max(entry.max_response_time, most)
    entry.total_content_length += length
    for bucket, count in buckets.items():
        entry.response_times[bucket] += count
    for second, count in seconds.items():
        entry.num_reqs_per_sec[second] += count
