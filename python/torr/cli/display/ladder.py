"""Display a ladder: medians of rounds, streams, capacity, and the errors of the worst level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.cli.display import errors, serving
from torr.cli.display.run import LEAST_OF_STREAMS
from torr.messages.say import Text, chain, say
from torr.report.tables import level_table
from torr.report.tables.stream_tables import streams_of_levels
from torr.report.tables.table import bounded
from torr.stats.series import Series
from torr.units import show_ms, show_percent, show_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.cli.screen import Screen
    from torr.results.position import Position
    from torr.results.result import RunResult


LEAST_OF_MEDIANS = ("spread", "mean")


def show(result: RunResult, out: Screen) -> None:
    """Print the ladder."""
    out.line()
    if max((level.round for level in result.levels), default=1) > 1:
        _show_medians(result, out)
        out.line()
    _show_streams(result, out)
    serving.show(result, out)
    capacity = level_table.capacity(result)
    if capacity is not None:
        out.table(out.columns(capacity.columns, capacity.rows, capacity.words))
    out.pairs({**_without_claim(result), **serving.causes(result)})
    worst = [level for level in result.levels if level.counts.errors]
    if worst:
        level = max(worst, key=lambda x: x.counts.failed)
        errors.show(say("errors at {level:,}", level=level.position), level, out)


def _show_medians(result: RunResult, out: Screen) -> None:
    series = Series.of(result.name, result.levels)
    names = (
        say("median of rounds"),
        "ok/s",
        say("mean"),
        "p95",
        say("success"),
        say("spread"),
    )
    rows = tuple(
        (
            f"{point.position:,}",
            bounded(show_rate(point.ok_per_s), at_least=point.at_least),
            show_ms(point.service_ms),
            bounded(show_ms(point.p95_ms), at_least=point.p95_at_least),
            show_percent(point.success_rate),
            show_percent(100 * point.spread) if point.spread is not None else "–",
        )
        for point in series.points
    )
    out.table(out.columns(names, rows).fitting(out.width, LEAST_OF_MEDIANS))


def _show_streams(result: RunResult, out: Screen) -> None:
    """Print a row for each level whose answers are streams."""
    streams = streams_of_levels(result)
    if streams is not None:
        out.table(out.columns(streams.columns, streams.rows).fitting(out.width, LEAST_OF_STREAMS))
        out.line()


def _without_claim(result: RunResult) -> dict[str, str]:
    """Return a line for the levels that claim nothing, for each of the reasons."""
    lines: dict[str, str] = {}
    series = Series.of("", result.levels)
    unclaimed = [point.position for point in series.limited]
    limited = {level.position for level in result.levels if level.is_limited}
    if unclaimed:
        where = _listed(unclaimed)
        lines[say("no claim")] = say("{levels}: limited by the generator", levels=where)
    if others := limited.difference(unclaimed):
        where = _listed(sorted(others))
        lines[say("left out")] = say("rounds of {levels}: limited by the generator", levels=where)
    for name, points in ((say("cut short"), series.cut), (say("fewer users"), series.starved)):
        if points:
            where = _listed(point.position for point in points)
            lines[name] = say("{levels}: claims nothing", levels=where)
    return lines


def _listed(levels: Iterable[Position]) -> Text:
    return chain(", ", [f"{level:,}" for level in levels])
