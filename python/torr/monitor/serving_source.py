"""Read an LLM server or GPUs once per second during a load.

The last reading is taken after the load, so that the growth of counters is known to its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.messages.message import Message, message
from torr.monitor.exposition import ExpositionReader
from torr.monitor.fetch import ANSWER_S, EndpointError
from torr.monitor.readings import Reading, reading
from torr.monitor.resource_samples import SampleHistory
from torr.monitor.text_endpoint import not_in_time, not_read, scraped
from torr.monitor.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.model.url import Url
    from torr.monitor.exporters import Exporter
    from torr.monitor.time_axis import TimeAxis


@dataclass(frozen=True, slots=True)
class ServingReadings:
    """The readings of one source in the order of time, and why some are missing."""

    source: str
    url: str
    readings: Sequence[Reading] = ()
    error: Message | None = None


class ServingSource:
    """A source that is read from the start of a load to its end.

    `take` returns a reading, or raises EndpointError. `url` is the place as results show it.
    """

    def __init__(self, source: str, url: str, take: Callable[[], Reading]) -> None:
        self._source = source
        self._url = url
        self._take = take
        self._readings = SampleHistory[Reading]()
        self._error: Message | None = None
        self._was_read = True
        self._ticker: Ticker | None = None

    @property
    def cost_s(self) -> float:
        """Return the CPU time that reading took."""
        return 0.0 if self._ticker is None else self._ticker.cost_s

    def start(self, axis: TimeAxis) -> None:
        """Read now, and then once per second."""
        self._ticker = Ticker(self.read, axis, self._source, immediately=True)
        self._ticker.start()

    def abandon(self) -> None:
        """Stop reading, without waiting for a read in progress."""
        if self._ticker is not None:
            self._ticker.stop(0)

    def read(self) -> None:
        """Read once; keep the first error."""
        try:
            self._readings.add(self._take())
            self._was_read = True
        except EndpointError as error:
            self._was_read = False
            self._error = self._error or not_read(self._url, error)

    def stop(self, seconds: float) -> ServingReadings:  # noqa: ARG002 - for other sources
        """Stop reading, read a last time if the source answered before, and return all readings."""
        if self._ticker is not None:
            self._ticker.stop(ANSWER_S)
            if self._was_read:
                self.read()
        readings = list(self._readings.samples)
        return ServingReadings(self._source, self._url, readings, self._problem(readings))

    def _problem(self, readings: Sequence[Reading]) -> Message | None:
        if self._error is not None:
            return self._error
        if len(readings) < 2:
            return not_in_time(self._url)
        if not all(each.is_empty for each in readings):
            return None
        return message(
            "warning.metrics_missing",
            "monitor: {url} has none of the metrics of {source}",
            url=self._url,
            source=self._source,
        )


def endpoint_of(exporter: Exporter, url: Url) -> ServingSource:
    """Return the source of an exporter's page."""
    # Importing it takes longer than reading, and the first reading would delay the second one.
    import torr.http_client  # noqa: F401

    reader = ExpositionReader(exporter.names)

    def take() -> Reading:
        at_s, samples = scraped(url, reader, may_be_empty=True)
        return reading(samples, exporter, at_s)

    return ServingSource(exporter.name, str(url), take)
