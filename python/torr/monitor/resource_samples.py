"""Samples of machine, target and generator in the order of time, limited in number.

Counters are cumulative, so samples can be dropped without losing counts: when there are too many,
every other one is dropped, and from then on only every other new one is kept. So a mean of gauges
has as many samples of each part of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.monitor.process_tree import ProcessTreeSample
    from torr.procfs.totals import MachineTotals

SampleType = TypeVar("SampleType")

MAX_SAMPLES = 1200
"""The limit of samples: 20 minutes at one per second."""


@dataclass(frozen=True, slots=True)
class ResourceSample:
    """One sample, and its time on the monotonic clock."""

    at_s: float
    machine: MachineTotals
    generator: ProcessTreeSample
    target: ProcessTreeSample | None = None


@dataclass(slots=True)
class SampleHistory(Generic[SampleType]):
    """Samples, of which the first and the newest are never dropped."""

    most: int = MAX_SAMPLES
    samples: list[SampleType] = field(default_factory=list)
    _count: int = 0
    _every: int = 1
    """Of so many samples, one is kept."""

    def add(self, sample: SampleType) -> None:
        """Add a sample; drop every other one if there are more than `most`."""
        if self.samples and (self._count - 1) % self._every:
            self.samples.pop()  # it was kept as the newest
        self.samples.append(sample)
        self._count += 1
        if len(self.samples) > self.most:
            self.samples = [*self.samples[:-1:2], self.samples[-1]]
            self._every *= 2


def with_full_last_interval(samples: list[ResourceSample], least_s: float) -> list[ResourceSample]:
    """Drop the last but one sample if the last interval is too short for rates."""
    if len(samples) < 3 or samples[-1].at_s - samples[-2].at_s >= least_s:
        return samples
    return [*samples[:-2], samples[-1]]


def growth_between(
    samples: list[ResourceSample],
    begin_s: float,
    end_s: float,
    of: Callable[[ResourceSample], float | None],
) -> float | None:
    """Return the growth of a cumulative number in a window; None if it is unknown.

    It is interpolated linearly between samples, and constant before the first and after the last.
    """
    known = [(sample.at_s, value) for sample in samples if (value := of(sample)) is not None]
    if len(known) < 2 or end_s <= begin_s:
        return None
    return _value(known, end_s) - _value(known, begin_s)


def _value(known: list[tuple[float, float]], at_s: float) -> float:
    before = known[0]
    for after in known:
        if after[0] >= at_s:
            width = after[0] - before[0]
            share = (at_s - before[0]) / width if width > 0 else 1.0
            return before[1] + max(0.0, share) * (after[1] - before[1])
        before = after
    return before[1]
