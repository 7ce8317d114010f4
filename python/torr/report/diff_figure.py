"""Pictures of two ladders: rates and times, and success rates, told apart without colour.

The baseline is drawn solid with round markers, the other dashed with square ones; each is named
at its last level, beside its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.report import theme
from torr.report.theme import FIRST, SECOND, Mark
from torr.stats.series import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
        theme.levels_axis(ax, _levels(sides))
    upper.set_ylabel("ok requests/s (QPS)")
    upper.set_xlabel("")
    lower.set_ylabel("mean time to last byte (TTLB), ms")
    return fig


def success(sides: Sides, words: Words) -> Figure:
    """Return the success rates of both sides; levels below 100 % carry their numbers."""
    fig = theme.figure(10, 4.9)
    (ax,) = _stack(fig, theme.headline(fig, *words), 1, _room(sides))
    _lines(ax, sides, "success_rate")
    for series, shift in zip(sides, ((0, 8), (-6, -6)), strict=True):
        for point in series.points:
            theme.success_label(ax, point.concurrency, point.success_rate, shift)
    theme.levels_axis(ax, _levels(sides))
    ax.set_ylim(0, 112)
    ax.set_yticks(range(0, 101, 20), [f"{y} %" for y in range(0, 101, 20)])
    ax.set_ylabel("success rate, % of attempts")
    return fig


def panels(sides: Sides, width: float = 10, height: float = 6.4) -> Figure:
    """Return the picture of `qps_ttlb` without its headline, for the page."""
    fig = theme.figure(width, height)
    upper, lower = _stack(fig, 0.1, 2, _room(sides))
    for ax, metric, title in (
        (upper, "ok_per_s", "ok requests/s"),
        (lower, "service_ms", "mean time to last byte, ms"),
    ):
        _lines(ax, sides, metric)
        theme.levels_axis(ax, _levels(sides))
        theme.from_zero(ax, _highest(sides, metric))
        scale = theme.time_axis(ax, _values(sides, metric)) if ax is lower else ""
        ax.set_title(title + scale, size=10, weight="bold")
    upper.set_xlabel("")
    return fig


def _stack(fig: Figure, top: float, rows: int, room: float) -> list[Axes]:
    """Axes one above the other, below a headline of `top` inches, with `room` inches for names."""
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
    ends = []
    # The baseline is drawn wider, so that it is seen under a line that covers it.
    for series, mark, wide in zip(sides, (FIRST, SECOND), (1.6, 1.0), strict=True):
        end = _line(ax, series, metric, mark, wide)
        if end is not None:
            ends.append((end, series.name, mark))
    _name_ends(ax, ends, _highest(sides, metric))


def _line(
    ax: Axes, series: Series, metric: str, mark: Mark, wide: float
) -> tuple[float, float] | None:
    known = [p for p in series.points if getattr(p, metric) is not None]
    if not known:
        return None
    ax.plot(
        [p.concurrency for p in known],
        [getattr(p, metric) for p in known],
        color=mark.colour,
        marker=mark.marker,
        linestyle=mark.dash,
        linewidth=2 * wide,
        markersize=5.5 * wide,
        clip_on=False,
        zorder=3,
    )
    return known[-1].concurrency, getattr(known[-1], metric)


def _name_ends(ax: Axes, ends: list[tuple[tuple[float, float], str, Mark]], highest: float) -> None:
    """Write each name beside its last level, the upper one a little higher where they meet."""
    ordered = sorted(ends, key=lambda end: end[0][1])
    meet = len(ends) == 2 and ordered[1][0][1] - ordered[0][0][1] < 0.1 * highest
    for place, (at, name, mark) in enumerate(ordered):
        shift = (-8, 8)[place] if meet else 0
        if at[1] < 0.05 * highest:
            shift = max(shift, 0) + 7
        ax.annotate(
            _short(name),
            at,
            xytext=(9, shift),
            textcoords="offset points",
            va="center",
            color=mark.colour,
            weight="bold",
            size=9.5,
            annotation_clip=False,
        )


def _highest(sides: Sides, metric: str) -> float:
    return max(_values(sides, metric), default=0)


def _values(sides: Sides, metric: str) -> list[float]:
    return [getattr(point, metric) or 0 for side in sides for point in side.points]


def _levels(sides: Sides) -> list[int]:
    return sorted({point.concurrency for side in sides for point in side.points})


def _room(sides: Sides) -> float:
    """The inches that the longer name takes beside its line."""
    return 0.2 + 0.092 * max(len(_short(series.name)) for series in sides)


def _short(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:17]}…"
