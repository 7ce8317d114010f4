"""Pictures of two ladders: rates and times, and success rates, told apart without colour.

The baseline is drawn solid with round markers, the other dashed with square ones; each is named
at its last level, beside its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.transforms import Bbox

from torr.report.figures import theme
from torr.report.figures.labels import AROUND, Labels
from torr.report.figures.theme import FIRST, SECOND, Mark
from torr.stats.series import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.results.position import Position
    from torr.results.series import LevelPoint

Sides = tuple[Series, Series]
Words = tuple[str, str]


def qps_ttlb(sides: Sides, words: Words) -> Figure:
    """Return requests/s above and mean time to last byte below, of both sides, over concurrency."""
    fig = theme.figure(10, 7.4)
    upper, lower = _stack(fig, theme.headline(fig, *words), 2, _room(sides))
    _lines(upper, sides, "ok_per_s")
    _lines(lower, sides, "service_ms")
    for ax, metric in ((upper, "ok_per_s"), (lower, "service_ms")):
        theme.from_zero(ax, _highest(sides, metric))
        theme.levels_axis(ax, _levels(sides), _noun(sides))
        _name_lines(ax, sides, metric)
    upper.set_ylabel("ok requests/s (QPS)")
    upper.set_xlabel("")
    lower.set_ylabel("mean time to last byte (TTLB), ms")
    return fig


def success(sides: Sides, words: Words) -> Figure:
    """Return the success rates of both sides; levels below 100 % carry their numbers."""
    fig = theme.figure(10, 4.9)
    (ax,) = _stack(fig, theme.headline(fig, *words), 1, _room(sides))
    _lines(ax, sides, "success_rate")
    theme.levels_axis(ax, _levels(sides), _noun(sides))
    theme.success_axis(ax)
    labels = _name_lines(ax, sides, "success_rate")
    for series, mark in _marked(sides):
        for point in series.points:
            rate = point.success_rate
            theme.success_label(labels, point.position, rate, mark.colour)
    return fig


def _stack(fig: Figure, top: float, rows: int, room: float) -> list[Axes]:
    """Add axes one above the other, `top` inches from the top, `room` inches from the right."""
    width, height = (float(side) for side in fig.get_size_inches())
    grid = fig.subplots(
        rows,
        1,
        squeeze=False,
        gridspec_kw={
            "left": 0.9 / width,
            "right": 1 - room / width,
            "top": 1 - (top + 0.25) / height,
            "bottom": 0.6 / height,
            "hspace": 0.28,
        },
    )
    return [row[0] for row in grid]


def _lines(ax: Axes, sides: Sides, metric: str) -> None:
    # The baseline is drawn wider, so that it is seen under a line that covers it.
    for (series, mark), wide in zip(_marked(sides), (1.6, 1.0), strict=True):
        known = _known(series, metric)
        ax.plot(
            [p.position for p in known],
            [getattr(p, metric) for p in known],
            color=mark.colour,
            marker=mark.marker,
            linestyle=mark.dash,
            linewidth=2 * wide,
            markersize=5.5 * wide,
            clip_on=False,
            zorder=3,
        )


def _name_lines(ax: Axes, sides: Sides, metric: str) -> Labels:
    """Write each name beside its last level; return the labels, to write more of them."""
    box, whole = ax.get_window_extent(), ax.figure.bbox
    above = box.y1 + 12 * ax.figure.dpi / 72
    labels = Labels(ax, Bbox.from_extents(box.x0, box.y0, whole.x1, above))
    ends = [
        ((known[-1].position, getattr(known[-1], metric)), series.name, mark, toward)
        for (series, mark), toward in zip(_marked(sides), _toward(sides, metric), strict=True)
        if (known := _known(series, metric))
    ]
    for at, name, mark, toward in ends:
        beside = [(9.0, toward * y) for y in (0, 4, 8, 12, 16)]
        # Where the other line goes on there is no room beside the end: above or below it, then.
        aside = [(x, sign * y) for y in (8, 20) for x in (0, -9) for sign in (toward, -toward)]
        places = (*beside, *aside, *AROUND)
        labels.put(_short(name), at, places, color=mark.colour, weight="bold", size=9.5)
    return labels


def _marked(sides: Sides) -> list[tuple[Series, Mark]]:
    return list(zip(sides, (FIRST, SECOND), strict=True))


def _toward(sides: Sides, metric: str) -> tuple[int, int]:
    """Return the direction in which each name gives way: up for the side that ends higher."""
    a, b = ([getattr(p, metric) for p in _known(side, metric)] for side in sides)
    return (-1, 1) if a and b and a[-1] < b[-1] else (1, -1)


def _known(series: Series, metric: str) -> list[LevelPoint]:
    return [point for point in series.points if getattr(point, metric) is not None]


def _highest(sides: Sides, metric: str) -> float:
    values = [getattr(point, metric) or 0 for side in sides for point in side.points]
    return max(values, default=0)


def _levels(sides: Sides) -> list[Position]:
    return sorted({point.position for side in sides for point in side.points})


def _noun(sides: Sides) -> str:
    return "user" if any(side.noun == "user" for side in sides) else sides[0].noun


def _room(sides: Sides) -> float:
    """Return the inches that the longer name takes beside its line."""
    return 0.2 + 0.092 * max(len(_short(series.name)) for series in sides)


def _short(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:17]}…"
