"""Join the readings of LLM servers and GPUs over the measured window of a level.

Numbers of several sources are added up; percentages are averaged, and of their maxima the highest
counts. A number that one of its sources does not know is unknown: a part would look like the whole.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from torr.messages.message import Message, message
from torr.monitor.exporters import BUSIEST_GPU, quantities_of
from torr.monitor.serving_series import growth, has, serving_series
from torr.results.serving import ServingSamples, ServingUsage

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from torr.monitor.readings import Reading
    from torr.monitor.serving_source import ServingReadings
    from torr.monitor.time_axis import TimeAxis

NEAR_S = 1.5
"""How far from a short window a reading may be that stands for it."""
LEAST_COVERED = 0.8
"""The part of the window that the readings of a counter must cover."""
LATE_S = 0.2
"""How long after the window a reading may be that counts for its end."""
MOST_STALE_S = 2.0
MOST_STALE = 0.1
"""The longest time without a new energy, in seconds or as a part of the window."""


@dataclass(frozen=True, slots=True)
class Window:
    """The measured window on the monotonic clock."""

    begin_s: float
    seconds: float

    @property
    def end_s(self) -> float:
        """Return its end."""
        return self.begin_s + self.seconds


def serving_samples(
    sources: Sequence[ServingReadings], axis: TimeAxis, seconds: float
) -> ServingSamples:
    """Return the series of all sources, and the numbers of a window of `seconds`."""
    window = Window(axis.zero_s, seconds)
    series = [
        msgspec.structs.replace(
            serving_series(source, axis), error=source.error or stale_warning(source, window)
        )
        for source in sources
    ]
    fresh, unknown = [], set[str]()
    for source in sources:
        if not source.readings or stale_s(source.readings, window) is not None:
            unknown |= quantities_of(source.source)
        else:
            fresh.append(source.readings)
    return ServingSamples(sources=series, derived=serving_usage(fresh, window, unknown))


def serving_usage(
    sources: Sequence[Sequence[Reading]], window: Window, unknown: Collection[str] = ()
) -> ServingUsage:
    """Return the numbers of the window, of the readings of each source.

    Of the quantities `unknown`, another source has no number.
    """
    totals = _Totals(sources, window, unknown)
    tokens, energy = totals.growth("generated_tokens"), totals.energy_j()
    hits = _ratio(totals.growth("prefix_hits"), totals.growth("prefix_queries"), 100)
    if hits is None and not any(_counts(readings, "prefix_queries") for readings in sources):
        hits = totals.mean_share("prefix_hit_rate")
    first_tokens = totals.growth("ttft_s_count")
    return ServingUsage(
        running_mean=_rounded(totals.mean("running")),
        running_max=_rounded(totals.highest_sum("running")),
        waiting_mean=_rounded(totals.mean("waiting")),
        waiting_max=_rounded(totals.highest_sum("waiting")),
        kv_cache_mean_rate=_rounded(totals.mean_share("kv_cache_rate")),
        kv_cache_max_rate=_rounded(totals.highest("kv_cache_rate")),
        prefix_hit_rate=_percent(hits),
        preemptions=_rounded(totals.growth("preemptions")),
        queue_ms=_rounded(totals.mean_ms("queue_s")),
        ttft_ms=_rounded(totals.mean_ms("ttft_s")),
        first_tokens=_rounded(first_tokens),
        prompt_tokens_per_s=_rounded(_ratio(totals.growth("prompt_tokens"), window.seconds)),
        generated_tokens_per_s=_rounded(_ratio(tokens, window.seconds)),
        gpu_mean_rate=_rounded(totals.mean_share("gpu_rate")),
        busiest_gpu_mean_rate=_rounded(totals.highest_mean(BUSIEST_GPU)),
        gpu_memory_max_bytes=_rounded(totals.highest_sum("gpu_memory_bytes")),
        power_w=_rounded(_ratio(energy, window.seconds) or totals.mean("power_w")),
        energy_j=_rounded(energy),
        tokens_per_j=_rounded(_ratio(tokens, energy)),
    )


def stale_warning(source: ServingReadings, window: Window) -> Message | None:
    """Return a warning about a source of GPUs that updates its numbers too rarely."""
    seconds = stale_s(source.readings, window)
    if seconds is None:
        return None
    return message(
        "warning.gpu_stale",
        "monitor: {url} had no new numbers for {seconds:.0f} s, so the GPU's power and use are not"
        " known (start dcgm-exporter with -c 1000)",
        url=source.url,
        seconds=seconds,
    )


def stale_s(readings: Sequence[Reading], window: Window) -> float | None:
    """Return the longest time of the window in which all readings had one energy, if it is long.

    The energy of a GPU that has power always grows. Unless a source counts energy, nothing tells
    how old its numbers are.
    """
    known = [reading for reading in readings if has(reading, "energy_j")]
    longest_s, since_s = 0.0, window.begin_s
    for before, after in itertools.pairwise(known):
        if growth(before, after, "energy_j") == 0:
            longest_s = max(longest_s, min(after.at_s, window.end_s) - since_s)
        else:
            since_s = max(after.at_s, window.begin_s)
    return longest_s if longest_s > max(MOST_STALE_S, MOST_STALE * window.seconds) else None


class _Totals:
    """The numbers of all sources that have a quantity."""

    def __init__(
        self, sources: Sequence[Sequence[Reading]], window: Window, unknown: Collection[str] = ()
    ) -> None:
        self._sources = sources
        self._window = window
        self._unknown = unknown

    def growth(self, quantity: str) -> float | None:
        """Return the growth of a counter of all sources."""
        if quantity in self._unknown:
            return None
        having = (readings for readings in self._sources if _counts(readings, quantity))
        return _sum([_growth(readings, quantity, self._window) for readings in having])

    def mean_ms(self, histogram: str) -> float | None:
        """Return the mean of the values that were added to a histogram in seconds."""
        total = self.growth(f"{histogram}_sum")
        return _ratio(total, self.growth(f"{histogram}_count"), 1000)

    def energy_j(self) -> float | None:
        """Return the energy of all sources, by their counters or else by their mean power."""
        if "energy_j" in self._unknown:
            return None
        parts: list[float | None] = []
        for readings in self._sources:
            power = _Totals([readings], self._window).mean("power_w")
            if _counts(readings, "energy_j"):
                parts.append(_growth(readings, "energy_j", self._window))
            elif power is not None:
                parts.append(power * self._window.seconds)
        return _sum(parts)

    def mean(self, quantity: str) -> float | None:
        """Return the sum of the sources' means."""
        return _sum([sum(values) / len(values) for values in self._values(quantity)])

    def mean_share(self, quantity: str) -> float | None:
        """Return the mean of the sources' means."""
        means = [sum(values) / len(values) for values in self._values(quantity)]
        return sum(means) / len(means) if means else None

    def highest_mean(self, quantity: str) -> float | None:
        """Return the highest mean of any source."""
        means = [sum(values) / len(values) for values in self._values(quantity)]
        return max(means, default=None)

    def highest(self, quantity: str) -> float | None:
        """Return the highest value of any source."""
        return max((max(values) for values in self._values(quantity)), default=None)

    def highest_sum(self, quantity: str) -> float | None:
        """Return the highest sum of the sources' values in one second.

        Of a long load, sources may have kept readings of different seconds: one without a reading
        counts with its last one.
        """
        having = self._having(quantity)
        by_second: dict[int, dict[int, float]] = {}
        for number, readings in enumerate(having):
            for each in readings:
                second = round(each.at_s - self._window.begin_s)
                values = by_second.setdefault(second, {})
                values[number] = max(each.gauges[quantity], values.get(number, 0.0))
        highest: float | None = None
        latest: dict[int, float] = {}
        for second in sorted(by_second):
            latest |= by_second[second]
            if len(latest) == len(having):
                highest = max(highest or 0.0, sum(latest.values()))
        return highest

    def _values(self, quantity: str) -> list[list[float]]:
        return [[each.gauges[quantity] for each in known] for known in self._having(quantity)]

    def _having(self, quantity: str) -> list[list[Reading]]:
        """Return the readings of each source that has a gauge; none if one has them elsewhere."""
        if quantity in self._unknown:
            return []
        having = [
            self._inside(readings, quantity)
            for readings in self._sources
            if any(quantity in reading.gauges for reading in readings)
        ]
        return having if all(having) else []

    def _inside(self, readings: Sequence[Reading], quantity: str) -> list[Reading]:
        """Return the readings of the window; of a short one, those just before and after it."""
        known = [reading for reading in readings if quantity in reading.gauges]
        inside = [reading for reading in known if _is_within(reading.at_s, self._window)]
        near = Window(self._window.begin_s - NEAR_S, self._window.seconds + 2 * NEAR_S)
        before = [reading for reading in known if reading.at_s < self._window.begin_s][-1:]
        after = [reading for reading in known if reading.at_s > self._window.end_s][:1]
        return inside or [each for each in (*before, *after) if _is_within(each.at_s, near)]


def _growth(readings: Sequence[Reading], quantity: str, window: Window) -> float | None:
    """Return the growth in the window, interpolated linearly between readings.

    It is extrapolated to a small part that no reading covers. A last reading long after the window
    counts as none, since the load has ended before it.
    """
    total = covered_s = 0.0
    for before, after in itertools.pairwise(readings):
        start, end = max(before.at_s, window.begin_s), min(after.at_s, window.end_s)
        is_late = after.at_s > window.end_s + LATE_S
        if end <= start or (is_late and covered_s >= LEAST_COVERED * window.seconds):
            continue
        grown = growth(before, after, quantity)
        if grown is None and (has(before, quantity) or has(after, quantity)):
            return None
        total += (grown or 0.0) * (end - start) / (after.at_s - before.at_s)
        covered_s += end - start
    if not covered_s or covered_s < LEAST_COVERED * window.seconds:
        return None
    return total * window.seconds / covered_s


def _counts(readings: Sequence[Reading], quantity: str) -> bool:
    return any(has(reading, quantity) for reading in readings)


def _is_within(at_s: float, window: Window) -> bool:
    return window.begin_s <= at_s <= window.end_s


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def _ratio(part: float | None, whole: float | None, factor: float = 1.0) -> float | None:
    return factor * part / whole if part is not None and whole else None


def _percent(value: float | None) -> float | None:
    return None if value is None else _rounded(min(100.0, value))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
