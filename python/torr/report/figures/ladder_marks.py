"""The marks of pictures over concurrency: lines, levels that claim nothing, limits.

Levels that the generator limited, those cut short, and those whose users starved are hollow and
hatched, which the legend names; they are never joined to the line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from torr.report.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from torr.model.condition import Condition
    from torr.report.figures.labels import Labels
    from torr.report.figures.theme import Mark
    from torr.report.view.view_ladder import LadderChart
    from torr.results.series import LevelPoint
    from torr.stats.series import Series

    Entry = tuple[Artist | tuple[Artist, ...], str]

_HOLLOW: Any = {  # matplotlib's own type for it names every key there is
    "marker": "o",
    "markersize": 7,
    "markerfacecolor": theme.PAPER,
    "markeredgecolor": theme.MUTED,
    "linestyle": "none",
}


def line(ax: Axes, points: Sequence[LevelPoint], metric: str, mark: Mark) -> None:
    """Join the points by a line."""
    values = [p.value(metric) for p in points]
    ax.plot(
        [p.position for p in points],
        [math.nan if value is None else value for value in values],
        color=mark.colour,
        marker=mark.marker,
        linestyle=mark.dash,
        linewidth=2,
        markersize=6.5,
        clip_on=False,
        zorder=3,
    )


def known_line(ax: Axes, series: Series, metric: str, mark: Mark) -> list[float]:
    """Draw one number of every level that has it; return the numbers."""
    known = [p for p in series.points if p.value(metric) is not None]
    line(ax, known, metric, mark)
    return [value for p in known if (value := p.value(metric)) is not None]


def unclaimed(ax: Axes, ladder: LadderChart, metric: str) -> None:
    """Draw the levels that claim nothing: hollow, on hatching that says by its slope which kind."""
    for points, (hatch, _) in _kinds(ladder):
        for point in points:
            low, high = theme.region(ladder.levels, point.position)
            ax.axvspan(
                low, high, facecolor="none", edgecolor=theme.GREY, hatch=hatch, lw=0, zorder=0
            )
            value = point.value(metric)
            if value is not None:
                ax.plot([point.position], [value], zorder=4, clip_on=False, **_HOLLOW)


def doubtful(ax: Axes, ladder: LadderChart, metric: str) -> None:
    """Draw the gaps between texts hollow where they are unreliable; the line goes on behind."""
    for point in ladder.series.points:
        value = point.value(metric)
        if point.position in ladder.joined and value is not None:
            ax.plot([point.position], [value], zorder=4, clip_on=False, **_HOLLOW)


def doubtful_marks(ladder: LadderChart) -> list[Entry]:
    """Return what the legend says of gaps that are unreliable."""
    mark = Line2D([], [], **_HOLLOW)
    return [(mark, "inter_chunk unreliable")] if ladder.joined else []


def _kinds(ladder: LadderChart) -> list[tuple[tuple[LevelPoint, ...], tuple[str, str]]]:
    """Return the levels that claim nothing by their kind, with its hatching and its name."""
    series = ladder.series
    return [
        (series.limited, ("///", "generator-limited")),
        (series.cut, ("\\\\\\", "cut short")),
        (series.starved, ("...", "fewer users")),
    ]


def hollow_points(ladder: LadderChart) -> tuple[LevelPoint, ...]:
    """Return every level that claims nothing."""
    return tuple(point for points, _ in _kinds(ladder) for point in points)


def limit_lines(ax: Axes, slos: list[Condition]) -> list[Condition]:
    """Draw the limit of each SLO across the axes; return the SLOs."""
    for slo in slos:
        ax.axhline(slo.limit, color=theme.PURPLE, linewidth=1.4, linestyle=(0, (7, 3)), zorder=2)
    return slos


def name_limits(labels: Labels, ax: Axes, slos: Sequence[Condition]) -> None:
    """Name each limit above or below its line, as far left as there is room."""
    width = float(ax.get_window_extent().width) * 72 / ax.figure.dpi
    along = [(4 + share * width, y) for share in (0, 0.2, 0.4, 0.6) for y in (3, -3)]
    left = ax.get_xlim()[0]
    for slo in slos:
        text = f"SLO {slo.text or slo}"
        shifts = [*along, *((x, y) for y in (-16, 16) for x, _ in along)]
        labels.put(
            text,
            (left, slo.limit),
            shifts,
            leader=False,
            size=9,
            color=theme.PURPLE,
            weight="bold",
        )


def curves(marks: Sequence[tuple[Mark, str]]) -> list[Entry]:
    """Return what the legend says of lines."""
    return [
        (
            Line2D([], [], color=m.colour, marker=m.marker, linestyle=m.dash, linewidth=2),
            name,
        )
        for m, name in marks
    ]


def hollow_marks(ladder: LadderChart) -> list[Entry]:
    """Return what the legend says of levels that claim nothing."""
    return [
        ((Patch(fc="none", ec=theme.GREY, hatch=hatch, lw=0), Line2D([], [], **_HOLLOW)), name)
        for points, (hatch, name) in _kinds(ladder)
        if points
    ]


def legend(ax: Axes, entries: Sequence[Entry]) -> None:
    """Name the marks above the axes."""
    if not entries:
        return
    ax.legend(
        [mark for mark, _ in entries],
        [name for _, name in entries],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=len(entries),
        frameon=False,
        borderaxespad=0.1,
        handlelength=2.4,
        columnspacing=1.0,
        fontsize=9,
    )
