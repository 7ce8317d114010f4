"""Read an endpoint of the target in Prometheus' text format once per second during the load.

Counters are converted to growth per second, which is null after a reset and beyond the range of a
float; gauges are those at the end of the interval. The number of series is limited; the order of
the name patterns decides which are kept.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from torr.messages.message import Message, message
from torr.monitor.exposition import ExpositionReader, is_exposition
from torr.monitor.fetch import ANSWER_S, EndpointError, fetch
from torr.monitor.resource_samples import SampleHistory
from torr.monitor.ticker import Ticker
from torr.results.monitor import EndpointSamples, EndpointSeries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.url import Url
    from torr.monitor.exposition import Labels, ScrapedSample
    from torr.monitor.time_axis import TimeAxis

Page = tuple[float, dict[tuple[str, "Labels"], "ScrapedSample"]]

MAX_SERIES = 40
DEFAULT_NAMES = (
    *("process_*", "http_*", "*_requests_total", "*_errors_total", "*_connections*"),
    *("go_goroutines", "nodejs_eventloop_lag_*", "jvm_memory_used_bytes", "python_gc_*_total"),
    *("node_load1", "node_memory_MemAvailable_bytes", "node_network_*_bytes_total"),
    *("pg_stat_database_*", "pg_locks_count"),
)


class TextEndpoint:
    """An endpoint that is read from the start of a load to its end."""

    def __init__(self, url: Url, names: Sequence[str] = DEFAULT_NAMES) -> None:
        self._url = url
        self._reader = ExpositionReader(names)
        self._pages = SampleHistory[Page]()
        self._error: Message | None = None
        self._ticker: Ticker | None = None
        self._axis: TimeAxis | None = None

    @property
    def cost_s(self) -> float:
        """Return the CPU time that reading took."""
        return 0.0 if self._ticker is None else self._ticker.cost_s

    def start(self, axis: TimeAxis) -> None:
        """Read the endpoint now, and then once per second."""
        self._axis = axis
        self._ticker = Ticker(self.read, axis, "endpoint", immediately=True)
        self._ticker.start()

    def abandon(self) -> None:
        """Stop reading, without waiting for a read in progress."""
        if self._ticker is not None:
            self._ticker.stop(0)

    def read(self) -> None:
        """Read the endpoint once; keep the first error."""
        try:
            at_s, samples = scraped(self._url, self._reader)
            self._pages.add((at_s, {sample.key: sample for sample in samples}))
        except EndpointError as error:
            self._error = self._error or not_read(str(self._url), error)

    def stop(self, seconds: float) -> EndpointSamples:  # noqa: ARG002 - for other sources
        """Stop reading and return the samples, after a read in progress."""
        if self._ticker is None or self._axis is None:
            return EndpointSamples(url=str(self._url), error=self._error)
        self._ticker.stop(ANSWER_S)
        pages, axis = list(self._pages.samples), self._axis
        error = self._error
        if error is None and len(pages) < 2:
            error = not_in_time(str(self._url))
        keys = list(dict.fromkeys(key for _, page in pages for key in page))
        pairs = list(itertools.pairwise(pages))
        return EndpointSamples(
            url=str(self._url),
            t_s=[round(axis.at(before[0]), 3) for before, _ in pairs],
            series=[_series(key, pairs) for key in keys[:MAX_SERIES]],
            left_out=max(0, len(keys) - MAX_SERIES),
            error=error,
        )


def scraped(
    url: Url, reader: ExpositionReader, *, may_be_empty: bool = False
) -> tuple[float, list[ScrapedSample]]:
    """Fetch a page; return its time on the monotonic clock, and its samples.

    Raises EndpointError. A server may have an empty page before its first request.
    """
    page = fetch(url)
    text = page.content.decode(errors="replace")
    samples = reader.samples(text)
    is_fine = samples or is_exposition(text) or (may_be_empty and _has_no_number(text))
    if not is_fine:
        raise EndpointError("its response is not in Prometheus' text format")
    return page.at_s, samples


def not_read(url: str, error: EndpointError) -> Message:
    """Return the warning about an endpoint that could not be read."""
    return message(
        "warning.endpoint_not_read",
        "monitor: {url} was not read: {error}",
        url=url,
        error=str(error),
    )


def not_in_time(url: str) -> Message:
    """Return the warning about an endpoint that did not answer in time."""
    return message("warning.endpoint_late", "monitor: {url} did not answer in time", url=url)


def _has_no_number(text: str) -> bool:
    return all(not line.strip() or line.startswith("#") for line in text.splitlines())


def _series(key: tuple[str, Labels], pairs: list[tuple[Page, Page]]) -> EndpointSeries:
    kinds = [page[key].kind for pair in pairs for _, page in pair if key in page]
    kind = kinds[0] if kinds else "gauge"
    value = _growth if kind == "counter" else _at_end
    values = [value(key, pair) for pair in pairs]
    return EndpointSeries(name=key[0], labels=dict(key[1]), kind=kind, values=values)


def _at_end(key: tuple[str, Labels], pair: tuple[Page, Page]) -> float | None:
    sample = pair[1][1].get(key)
    return None if sample is None else sample.value


def _growth(key: tuple[str, Labels], pair: tuple[Page, Page]) -> float | None:
    (from_s, before), (to_s, after) = pair
    a, b = (page[key].value if key in page else None for page in (before, after))
    if a is None or b is None or b < a or to_s <= from_s:
        return None
    growth = (b - a) / (to_s - from_s)
    return round(growth, 6) if math.isfinite(growth) else None
