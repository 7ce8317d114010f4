"""The page's charts of ladders and diffs, and the content of the pictures of a ladder."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import msgspec

from torr.messages.say import as_json, say
from torr.model.condition import Condition
from torr.report.data import diff as diff_sides
from torr.report.data import plateau, stream_charts
from torr.report.text import sentence, trust
from torr.report.text.streaming import is_joined
from torr.report.view import view_serving
from torr.results.level import times_of_streams
from torr.stats.series import Series
from torr.verdicts.judgement import DELTA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from torr.model.json import JsonObject
    from torr.results.capacity import Capacity
    from torr.results.position import Position
    from torr.results.result import RunResult
    from torr.results.series import LevelPoint

_CHANGE_KEYS = (
    *("metric", "position", "baseline_value", "value", "ratio", "difference", "interval", "n"),
    "word",
)
_STATS_OF_STREAMS = ("p95", "p50", "mean")


@dataclass(frozen=True)
class NamedLevel:
    """A level that has a name; `kind` chooses how its line is drawn."""

    level: Position
    words: str
    kind: Literal["peak", "knee", "capacity"]


@dataclass(frozen=True)
class LadderChart:
    """The levels of a ladder, its findings, and the words above its pictures."""

    series: Series
    title: str
    subtitle: str
    findings: tuple[NamedLevel, ...] = ()
    slos: tuple[Condition, ...] = ()
    joined: frozenset[Position] = frozenset()
    """Levels whose gaps between texts a late client made unreliable."""

    @classmethod
    def of(cls, result: RunResult) -> Self:
        """Return the chart of a ladder's result."""
        series = Series.of(result.name, result.levels)
        return cls(
            series=series,
            title=sentence.verdict(result),
            subtitle=f"{result.name}: {trust.trust(result)}",
            findings=tuple(_findings(result.capacity, series)),
            slos=_conditions(result),
            joined=frozenset(x.position for x in result.levels if is_joined(x)),
        )

    @property
    def levels(self) -> list[Position]:
        """Every measured level, those included that claim nothing."""
        return [point.position for point in self.series.shown]

    @property
    def stream_metrics(self) -> tuple[str, ...]:
        """The metrics of streams that have a panel each."""
        names = {name for point in self.series.shown for name in point.stream_values}
        known = {name.partition(" ")[0] for name in names}
        return stream_charts.over_concurrency(known, {slo.metric for slo in self.slos})

    def stream_limits(self, metric: str) -> tuple[Condition, ...]:
        """Return the limits of all requests on a metric of streams."""
        return tuple(slo for slo in self.slos if slo.metric == metric and slo.name is None)

    def statistics(self, metric: str) -> tuple[str, ...]:
        """Return what the panel of a metric of streams shows, the highest first.

        Of a time that is a high percentile, that of its limit if there is one, and the median.
        Streams are few: where a level has too few for a median, all levels show the mean.
        """
        if metric in stream_charts.NO_TIMES:
            return (metric,)
        times = [p for p in self.series.shown if p.value(f"{metric} mean") is not None]
        has_median = all(p.value(f"{metric} p50") is not None for p in times)
        middle = "p50" if has_median else "mean"
        limited = [slo.stat for slo in self.stream_limits(metric)]
        high = next((x for x in limited if x and x.startswith("p") and x != middle), "p95")
        has_high = any(p.value(f"{metric} {high}") is not None for p in times)
        return tuple(f"{metric} {stat}" for stat in ([high] if has_high else []) + [middle])


def ladder(result: RunResult) -> JsonObject | None:
    """Return the points of a ladder, ascending, with findings and SLOs; None for another kind.

    A point's `claim` is `whole`, or why it claims nothing: `limited`, `cut`, `starved`. `serving`
    is absent unless LLM servers or GPUs were monitored.
    """
    if result.kind != "ladder" or not result.levels:
        return None
    chart = LadderChart.of(result)
    serving = view_serving.panels(result.levels, chart.levels)
    return {
        "noun": chart.series.noun,
        "points": _points(chart.series),
        "findings": [
            {"level": finding.level, "words": as_json(finding.words), "kind": finding.kind}
            for finding in chart.findings
        ],
        "slos": slos(result),
        "stream_panels": [
            {"metric": metric, "statistics": chart.statistics(metric)}
            for metric in chart.stream_metrics
        ],
        "joined": sorted(chart.joined),
        **({"serving": serving} if serving else {}),
    }


def diff(result: RunResult) -> JsonObject | None:
    """Return both sides' points and the change at each common level; None for another kind."""
    if result.kind != "diff":
        return None
    sides = diff_sides.sides(result)
    return {
        "noun": "user" if any(side.noun == "user" for side in sides) else sides[0].noun,
        "margin": [1 / (1 + DELTA), 1 + DELTA],
        "sides": [{"name": side.name, "points": _points(side)} for side in sides],
        "stream_metrics": _metrics_of_both(sides),
        "changes": [{key: getattr(v, key) for key in _CHANGE_KEYS} for v in result.verdicts],
    }


def _metrics_of_both(sides: Sequence[Series]) -> list[str]:
    """Return a statistic of each time of streams that both sides have, that of most levels."""
    values = [{point.position: point.stream_values for point in side.points} for side in sides]
    first, second = values
    counts = Counter(
        name
        for position in first.keys() & second.keys()
        for name in first[position].keys() & second[position].keys()
    )
    times = stream_charts.by_token({name.partition(" ")[0] for name in counts})
    names = ([f"{time} {stat}" for stat in _STATS_OF_STREAMS] for time in times)
    return [max(of_time, key=lambda name: counts[name]) for of_time in names]


def slos(result: RunResult) -> list[JsonObject]:
    """Return the limits that a result was judged by, each once; before that, those asked for."""
    given = map(Condition.parse, result.experiment.slos)
    known = _conditions(result) or tuple(given)
    return [_slo(condition) for condition in known]


def _points(series: Series) -> list[JsonObject]:
    """Return every level that there is a number of, with what it claims."""
    kinds = {"limited": series.limited, "cut": series.cut, "starved": series.starved}
    claims = {id(point): kind for kind, found in kinds.items() for point in found}
    return [_point(point, claims.get(id(point), "whole")) for point in series.shown]


def _point(point: LevelPoint, claim: str) -> JsonObject:
    members = msgspec.structs.asdict(point)
    del members["rate"]
    return {
        **members,
        "position": point.position,
        "stream": point.stream_values,
        "claim": claim,
    }


def _slo(condition: Condition) -> JsonObject:
    return {
        "text": condition.text or str(condition),
        "metric": condition.metric,
        "stat": condition.stat,
        "limit": condition.limit,
        "unit": condition.unit,
        "request": condition.name,
    }


def _findings(capacity: Capacity | None, series: Series) -> Iterator[NamedLevel]:
    if capacity is None:
        return
    peak, knee, slo = capacity.peak, capacity.knee, capacity.slo
    if peak:
        start = peak.position
        on = say("peak from {start:,} on", start=start)
        at = say("peak: {levels}", levels=plateau.spans(peak, series))
        words = on if plateau.goes_on(peak, series) else at
        yield NamedLevel(start, words, "peak")
    if knee:
        yield NamedLevel(knee.position, say("knee: {level:,}", level=knee.position), "knee")
    if slo:
        words = say("capacity under SLO: {level:,}", level=slo.position)
        yield NamedLevel(slo.position, words, "capacity")


def _conditions(result: RunResult) -> tuple[Condition, ...]:
    """Return the SLOs that a result was judged by, each once, with the metric of their chart."""
    texts = dict.fromkeys(verdict.condition for verdict in result.slo_verdicts)
    known = {name for level in result.levels for name in times_of_streams(level)}
    conditions = [Condition.parse(text) for text in texts if text]
    return tuple(replace(x, metric=stream_charts.chart_of(x.metric, known)) for x in conditions)
