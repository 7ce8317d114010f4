"""The content of a chart of a ladder: its levels, its findings, and the words above it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr.model.condition import Condition
from torr.report.data import plateau
from torr.report.text import sentence, trust
from torr.report.text.streaming import is_joined
from torr.stats.series import Series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.results.capacity import Capacity
    from torr.results.result import RunResult


@dataclass(frozen=True)
class Ladder:
    """What a picture of a ladder shows: its levels, what was found, and the words above it."""

    series: Series
    title: str
    subtitle: str
    findings: tuple[NamedLevel, ...] = ()
    slos: tuple[Condition, ...] = ()
    joined: frozenset[int] = frozenset()
    """Levels whose gaps between texts a late client made unreliable."""

    @property
    def levels(self) -> list[int]:
        """Every measured level, those included that claim nothing."""
        return [point.concurrency for point in self.series.shown]


@dataclass(frozen=True)
class NamedLevel:
    """A level that has a name; `kind` chooses how its line is drawn."""

    level: int
    words: str
    kind: Literal["peak", "knee", "capacity"]


def ladder(result: RunResult) -> Ladder:
    """Return what the pictures of a ladder's result show."""
    series = Series.of(result.name, result.levels)
    return Ladder(
        series=series,
        title=sentence.verdict(result),
        subtitle=f"{result.name}: {trust.trust(result)}",
        findings=tuple(_findings(result.capacity, series)),
        slos=conditions(result),
        joined=frozenset(x.concurrency for x in result.levels if is_joined(x)),
    )


def _findings(capacity: Capacity | None, series: Series) -> Iterator[NamedLevel]:
    if capacity is None:
        return
    peak, knee, slo = capacity.peak, capacity.knee, capacity.slo
    if peak:
        start = peak.concurrency
        on = f"peak from {start:,} on"
        words = on if plateau.goes_on(peak, series) else f"peak: {plateau.spans(peak, series)}"
        yield NamedLevel(start, words, "peak")
    if knee:
        yield NamedLevel(knee.concurrency, f"knee: {knee.concurrency:,}", "knee")
    if slo:
        words = f"capacity under SLO: {slo.concurrency:,}"
        yield NamedLevel(slo.concurrency, words, "capacity")


def conditions(result: RunResult) -> tuple[Condition, ...]:
    """Return the SLOs that a result was judged by, each once."""
    texts = dict.fromkeys(verdict.condition for verdict in result.slo_verdicts)
    return tuple(Condition.parse(text) for text in texts if text)
