"""Samples of machine, target and generator in the order of time, and how many of them are kept.

All that is counted is cumulative, so that looks can be left out: when there are too many, every
other one is, and what happened between the others is still whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.monitor.tree import ProcessTreeSample
    from torr.procfs.totals import MachineTotals

Seen = TypeVar("Seen")

MOST = 1200
"""Samples that are kept: 20 minutes of one a second."""


@dataclass(frozen=True, slots=True)
class ResourceSample:
    """What was seen at one time of the monotonic clock, in seconds."""

    at_s: float
    machine: MachineTotals
    generator: ProcessTreeSample
    target: ProcessTreeSample | None = None


@dataclass(slots=True)
class SampleHistory(Generic[Seen]):
    """The kept ones, the first and the newest always among them."""

    most: int = MOST
    all: list[Seen] = field(default_factory=list)

    def add(self, look: Seen) -> None:
        """Keep one more."""
        self.all.append(look)
        if len(self.all) > self.most:
            self.all = [*self.all[:-1:2], self.all[-1]]


def joined(looks: list[ResourceSample], least_s: float) -> list[ResourceSample]:
    """The same, but that the last interval is not shorter than that: rates need some ticks."""
    if len(looks) < 3 or looks[-1].at_s - looks[-2].at_s >= least_s:
        return looks
    return [*looks[:-2], looks[-1]]


def between(
    looks: list[ResourceSample],
    begin_s: float,
    end_s: float,
    of: Callable[[ResourceSample], float | None],
) -> float | None:
    """How much a cumulative number grew in a window; None where it is not known.

    Between two looks it is taken to grow evenly; beyond the first and the last one not at all.
    """
    known = [(look.at_s, value) for look in looks if (value := of(look)) is not None]
    if len(known) < 2 or end_s <= begin_s:
        return None
    return _value(known, end_s) - _value(known, begin_s)


def _value(known: list[tuple[float, float]], at_s: float) -> float:
    before = known[0]
    for after in known:
        if after[0] >= at_s:
            wide = after[0] - before[0]
            share = (at_s - before[0]) / wide if wide > 0 else 1.0
            return before[1] + max(0.0, share) * (after[1] - before[1])
        before = after
    return before[1]
