"""Convert readings of an LLM server or of GPUs to series on the load's time axis.

Counters become rates, and histograms the mean of the values that were added in an interval. After
a restart of the server, which begins its counters again, a value is null.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from torr.results.base import LARGEST
from torr.results.serving import ServingSeries

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.monitor.readings import Reading
    from torr.monitor.serving_source import ServingReadings
    from torr.monitor.time_axis import TimeAxis

Pair = tuple["Reading", "Reading"]

_DIGITS = 3
_MIN_INTERVAL_S = 0.2
"""A shorter last interval, before the reading after the load, has no meaningful rates."""


def serving_series(taken: ServingReadings, axis: TimeAxis) -> ServingSeries:
    """Return the series of a source."""
    pairs = [
        pair
        for pair in itertools.pairwise(taken.readings)
        if pair[1].at_s - pair[0].at_s >= _MIN_INTERVAL_S
    ]
    return ServingSeries(
        source=taken.source,
        url=taken.url,
        t_s=[round(axis.at(a.at_s), 3) for a, _ in pairs],
        seconds=[round(b.at_s - a.at_s, 3) for a, b in pairs],
        running=_gauge(pairs, "running"),
        waiting=_gauge(pairs, "waiting"),
        kv_cache_rate=_gauge(pairs, "kv_cache_rate"),
        prefix_hit_rate=_values(pairs, _hit_rate) or _gauge(pairs, "prefix_hit_rate"),
        preemptions_per_s=_rate(pairs, "preemptions"),
        queue_ms=_mean_ms(pairs, "queue_s"),
        ttft_ms=_mean_ms(pairs, "ttft_s"),
        prompt_tokens_per_s=_rate(pairs, "prompt_tokens"),
        generated_tokens_per_s=_rate(pairs, "generated_tokens"),
        gpu_rate=_gauge(pairs, "gpu_rate"),
        gpu_memory_bytes=_gauge(pairs, "gpu_memory_bytes"),
        power_w=_gauge(pairs, "power_w") or _rate(pairs, "energy_j"),
        error=taken.error,
    )


def growth(before: Reading, after: Reading, quantity: str) -> float | None:
    """Return the growth of a counter, of all its series; None if it is unknown.

    A series that appears begins at 0, since some servers write a counter only once it has counted.
    A series that vanishes or falls means that the server was restarted.
    """
    old = {key: value for key, value in before.counters.items() if key[0] == quantity}
    new = {key: value for key, value in after.counters.items() if key[0] == quantity}
    if not new or any(key not in new or new[key] < value for key, value in old.items()):
        return None
    total = sum(value - old.get(key, 0.0) for key, value in new.items())
    return total if total <= LARGEST else None


def has(reading: Reading, quantity: str) -> bool:
    """Return whether a reading has a counter."""
    return any(key[0] == quantity for key in reading.counters)


def ratio(
    before: Reading, after: Reading, part: str, whole: str, factor: float = 1.0
) -> float | None:
    """Return the growth of one counter divided by that of another, if that grew."""
    above, below = growth(before, after, part), growth(before, after, whole)
    return None if above is None or not below else factor * above / below


def _hit_rate(pair: Pair) -> float | None:
    share = ratio(*pair, "prefix_hits", "prefix_queries", 100)
    return None if share is None else min(100.0, share)


def _gauge(pairs: list[Pair], quantity: str) -> list[float | None]:
    return _values(pairs, lambda pair: pair[1].gauges.get(quantity))


def _rate(pairs: list[Pair], quantity: str) -> list[float | None]:
    def per_second(pair: Pair) -> float | None:
        grown = growth(*pair, quantity)
        return None if grown is None else grown / (pair[1].at_s - pair[0].at_s)

    return _values(pairs, per_second)


def _mean_ms(pairs: list[Pair], histogram: str) -> list[float | None]:
    return _values(pairs, lambda pair: ratio(*pair, f"{histogram}_sum", f"{histogram}_count", 1000))


def _values(pairs: list[Pair], value: Callable[[Pair], float | None]) -> list[float | None]:
    """Return a value of each interval; nothing if no interval has one."""
    values = [value(pair) for pair in pairs]
    if all(each is None for each in values):
        return []
    return [None if each is None else round(each, _DIGITS) for each in values]
