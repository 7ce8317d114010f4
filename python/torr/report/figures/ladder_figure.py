"""Pictures of a ladder: rate and time over concurrency, and the share of requests that succeeded.

`qps_ttlb` is wrktest's picture, both curves in one. What their marks mean is in `ladder_marks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from torr.report.figures import findings, ladder_marks, theme
from torr.report.figures.labels import Labels
from torr.report.figures.theme import FIRST, SECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.report.figures.findings import LevelLabel
    from torr.report.figures.ladder_marks import Entry
    from torr.report.view.view_ladder import LadderChart


def qps_ttlb(ladder: LadderChart) -> Figure:
    """Return requests/s (left axis) and mean time to last byte (right axis) over concurrency."""
    fig = theme.figure(10, 5.6)
    left = _axes(fig, theme.headline(fig, ladder.title, ladder.subtitle), 0.9, 0.85)
    right = left.twinx()
    right.grid(visible=False)
    ladder_marks.line(left, ladder.series.points, "ok_per_s", FIRST)
    rates = [point.ok_per_s for point in ladder.series.shown]
    times = ladder_marks.known_line(right, ladder.series, "service_ms", SECOND)
    flags = _finish(left, ladder, max(rates, default=0.0))
    theme.from_zero(right, max(times, default=0.0), findings.headroom(right, flags, 1.35))
    right.set_ylabel("mean time to last byte (TTLB), ms", color=SECOND.colour)
    left.set_ylabel("ok requests/s (QPS)", color=FIRST.colour)
    findings.draw(left, flags)
    ladder_marks.unclaimed(left, ladder, "ok_per_s")
    ladder_marks.legend(
        left,
        [
            *ladder_marks.curves([(FIRST, "QPS, left"), (SECOND, "mean TTLB, right")]),
            *_notes(ladder),
        ],
    )
    return fig


def success(ladder: LadderChart) -> Figure:
    """Return the success rate over concurrency; every level below 100 % carries its number."""
    fig = theme.figure(10, 4.6)
    ax = _axes(fig, theme.headline(fig, ladder.title, ladder.subtitle), 0.75, 0.5)
    known = [p for p in ladder.series.points if p.success_rate is not None]
    ladder_marks.line(ax, known, "success_rate", FIRST)
    theme.levels_axis(ax, ladder.levels, ladder.series.noun)
    theme.success_axis(ax)
    ladder_marks.unclaimed(ax, ladder, "success_rate")
    slos = [slo for slo in ladder.slos if slo.metric == "success" and slo.name is None]
    limits = ladder_marks.limit_lines(ax, slos)
    labels = Labels(ax)
    for point in known:
        theme.success_label(labels, point.position, point.success_rate)
    ladder_marks.name_limits(labels, ax, limits)
    ladder_marks.legend(ax, ladder_marks.hollow_marks(ladder))
    return fig


def _axes(fig: Figure, top: float, left: float, right: float, bottom: float = 0.6) -> Axes:
    """Add one set of axes below the headline; margins in inches."""
    width, height = (float(side) for side in fig.get_size_inches())
    box = (left + 0.1) / width, bottom / height
    return fig.add_axes((*box, 1 - (left + right + 0.1) / width, 1 - (bottom + top + 0.1) / height))


def _finish(ax: Axes, ladder: LadderChart, highest: float) -> tuple[LevelLabel, ...]:
    """Set both axes of the rates, with room above for the words of the findings."""
    theme.levels_axis(ax, ladder.levels, ladder.series.noun)
    flags = findings.arrange(ax, ladder.findings)
    theme.from_zero(ax, highest, findings.headroom(ax, flags, 1.12))
    return flags


def _notes(ladder: LadderChart) -> list[Entry]:
    notes: list[Entry] = []
    if any(point.at_least for point in ladder.series.points):
        notes.append((Line2D([], [], linestyle="none"), "QPS are ≥ (shared machine)"))
    return [*notes, *ladder_marks.hollow_marks(ladder)]
