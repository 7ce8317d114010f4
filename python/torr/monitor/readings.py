"""One reading of an LLM server or of GPUs: torr's quantities, made of the metrics of a page.

Metrics may have several series, one for each model, engine or GPU. Gauges are added up, and those
in percent are averaged. Counters keep their series, since a restart shows in each of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torr.monitor.exporters import BUSIEST_GPU, GAUGES, GAUGES_THAT_ADD_UP, GAUGES_THAT_AVERAGE
from torr.results.base import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torr.monitor.exporters import Exporter
    from torr.monitor.exposition import Labels, ScrapedSample

CounterKey = tuple[str, str]
"""A quantity, and what distinguishes its series."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The quantities at one time of the monotonic clock; counters are cumulative."""

    at_s: float
    gauges: Mapping[str, float] = field(default_factory=dict)
    counters: Mapping[CounterKey, float] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Return whether it has no quantity."""
        return not self.gauges and not self.counters


def reading(samples: Iterable[ScrapedSample], exporter: Exporter, at_s: float) -> Reading:
    """Return the quantities that a page of an exporter has."""
    series_of: dict[str, list[ScrapedSample]] = {}
    for sample in _without_copies(samples, exporter.copied_over):
        series_of.setdefault(sample.name, []).append(sample)
    gauges: dict[str, float] = {}
    counters: dict[CounterKey, float] = {}
    for quantity, alternatives in exporter.metrics.items():
        known = (terms for terms in alternatives if all(name in series_of for name in terms))
        series = [sample for name in next(known, ()) for sample in series_of[name]]
        factor = exporter.factors.get(quantity, 1.0)
        if quantity in GAUGES:
            gauges |= combined(quantity, [sample.value for sample in series], factor)
            continue
        for sample in series:
            value = _usable(sample.value, factor)
            if value is not None:
                counters[quantity, f"{sample.name}{sample.labels}"] = value
    return Reading(at_s, gauges, counters)


def _without_copies(
    samples: Iterable[ScrapedSample], labels: Sequence[str]
) -> Iterable[ScrapedSample]:
    """Return the samples without those that differ from another one in these labels alone."""
    if not labels:
        return samples
    first: dict[tuple[str, Labels], ScrapedSample] = {}
    for sample in samples:
        others = tuple(pair for pair in sample.labels if pair[0] not in labels)
        known = first.setdefault((sample.name, others), sample)
        if _ranks(sample, labels) < _ranks(known, labels):
            first[sample.name, others] = sample
    return first.values()


def _ranks(sample: ScrapedSample, labels: Sequence[str]) -> list[tuple[int, str]]:
    """Return the values of labels in the order of numbers: 2 before 10."""
    return [(len(value), value) for name, value in sample.labels if name in labels]


def combined(
    quantity: str, values: Sequence[float | None], factor: float = 1.0
) -> dict[str, float]:
    """Return a gauge of several series under its name; nothing if it is unknown.

    A sum is unknown if one of them is.
    """
    known = [value for each in values if (value := _usable(each, factor)) is not None]
    if not known or (quantity in GAUGES_THAT_ADD_UP and len(known) < len(values)):
        return {}
    if quantity in GAUGES_THAT_AVERAGE:
        gauges = {quantity: min(100.0, sum(known) / len(known))}
        if quantity == "gpu_rate":
            gauges[BUSIEST_GPU] = min(100.0, max(known))
        return gauges
    return {quantity: sum(known)}


def _usable(value: float | None, factor: float) -> float | None:
    """Return a value in torr's unit; None if it is no amount.

    DCGM writes numbers above 9e18 for what a GPU does not report.
    """
    if value is None or not math.isfinite(value) or not 0 <= value * factor <= LARGEST:
        return None
    return value * factor
