"""Pictures of a ladder: rate and time over concurrency, and the share of requests that succeeded.

`qps_ttlb` is wrktest's picture, both curves in one; `panels` puts them one above the other, which
leaves room for p95, intervals and narrow screens. Levels that the generator limited, and those cut
short, are hollow, hatched and named; they are never joined to the line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from torr.report import theme
from torr.report.theme import FIRST, SECOND, THIRD, Mark
from torr.units import show_ms, show_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.model.condition import Condition
    from torr.stats.series import Point, Series


@dataclass(frozen=True)
class Ladder:
    """What a picture of a ladder shows: its levels, what was found, and the words above it."""

    series: Series
    title: str
    subtitle: str
    knee: int | None = None
    plateau_start: int | None = None
    capacity: int | None = None
    slos: tuple[Condition, ...] = ()

    @property
    def levels(self) -> list[int]:
        """Every measured level, those included that claim nothing."""
        return [point.concurrency for point in self.series.shown]


def qps_ttlb(ladder: Ladder) -> Figure:
    """Return requests/s (left axis) and mean time to last byte (right axis) over concurrency."""
    fig = theme.figure(10, 5.6)
    left, right = _twin(fig, ladder)
    rates = _rate_line(left, ladder)
    times = _time_line(right, ladder.series, "service_ms", SECOND)
    _finish(left, ladder, _highest(rates), "ok requests/s")
    theme.from_zero(right, 1.35 * _highest(times), headroom=1.0)
    right.set_ylabel("mean time to last byte (TTLB), ms", color=SECOND.colour)
    left.set_ylabel("ok requests/s (QPS)", color=FIRST.colour)
    _findings(left, ladder)
    _unclaimed(left, ladder, "ok_per_s")
    _legend(left, [(FIRST, "QPS, left"), (SECOND, "mean TTLB, right")], ladder)
    return fig


def success(ladder: Ladder) -> Figure:
    """Return the success rate over concurrency; every level below 100 % carries its number."""
    fig = theme.figure(10, 4.6)
    ax = _axes(fig, theme.headline(fig, ladder.title, ladder.subtitle), 0.75, 0.5)
    known = [p for p in ladder.series.points if p.success_rate is not None]
    _line(ax, known, "success_rate", FIRST)
    for point in known:
        theme.success_label(ax, point.concurrency, point.success_rate, (5, 5))
    theme.levels_axis(ax, ladder.levels)
    ax.set_ylim(0, 112)
    ax.set_yticks(range(0, 101, 20), [f"{y} %" for y in range(0, 101, 20)])
    ax.set_ylabel("success rate, % of attempts")
    _unclaimed(ax, ladder, "success_rate")
    _rate_limits(ax, ladder.slos)
    return fig


def panels(ladder: Ladder, width: float = 10, height: float = 6.4) -> Figure:
    """Return requests/s above, p95 response and mean service time below, sharing the x axis."""
    fig = theme.figure(width, height)
    sides = {"left": 0.78 / width, "right": 1 - 0.3 / width}
    upper, lower = fig.subplots(
        2, 1, sharex=True, gridspec_kw={**sides, "top": 0.94, "bottom": 0.6 / height, "hspace": 0.3}
    )
    rates = _rate_line(upper, ladder)
    _ranges(upper, ladder.series, "ok_per_s_range")
    _finish(upper, ladder, _highest(rates), "ok requests/s")
    upper.set_title("ok requests/s", size=10, weight="bold")
    upper.set_ylabel("")
    times = _time_line(lower, ladder.series, "p95_ms", THIRD)
    times += _time_line(lower, ladder.series, "service_ms", SECOND)
    _ranges(lower, ladder.series, "p95_ms_range")
    limits = _time_limits(lower, ladder.slos, _highest(times))
    scale = theme.time_axis(lower, [*times, *limits])
    theme.levels_axis(lower, ladder.levels)
    upper.tick_params(labelbottom=False)
    upper.set_xlabel("")
    lower.set_title(f"ms{scale}: p95 ▲, mean TTLB ■", size=10, weight="bold")
    _findings(upper, ladder)
    for ax, metric in ((upper, "ok_per_s"), (lower, "p95_ms")):
        _unclaimed(ax, ladder, metric)
    return fig


def _twin(fig: Figure, ladder: Ladder) -> tuple[Axes, Axes]:
    left = _axes(fig, theme.headline(fig, ladder.title, ladder.subtitle), 0.9, 0.85)
    right = left.twinx()
    right.grid(visible=False)
    return left, right


def _axes(fig: Figure, top: float, left: float, right: float, bottom: float = 0.6) -> Axes:
    """One set of axes below the headline; margins in inches."""
    width, height = (float(side) for side in fig.get_size_inches())
    box = (left + 0.1) / width, bottom / height
    return fig.add_axes((*box, 1 - (left + right + 0.1) / width, 1 - (bottom + top + 0.1) / height))


def _finish(ax: Axes, ladder: Ladder, highest: float, label: str) -> None:
    theme.from_zero(ax, highest, headroom=1.25)
    theme.levels_axis(ax, ladder.levels)
    ax.set_ylabel(label)


def _rate_line(ax: Axes, ladder: Ladder) -> list[float]:
    values = [p.ok_per_s for p in ladder.series.shown]
    tips = [
        f"{p.concurrency:,} connections: {'≥ ' if p.at_least else ''}{show_rate(p.ok_per_s)} ok/s"
        for p in ladder.series.points
    ]
    _line(ax, ladder.series.points, "ok_per_s", FIRST, tips)
    return values


def _time_line(ax: Axes, series: Series, metric: str, mark: Mark) -> list[float]:
    known = [p for p in series.points if getattr(p, metric) is not None]
    name = "p95" if metric == "p95_ms" else "mean TTLB"
    tips = [f"{p.concurrency:,} connections: {name} {show_ms(getattr(p, metric))}" for p in known]
    _line(ax, known, metric, mark, tips)
    return [getattr(p, metric) for p in known]


def _line(
    ax: Axes, points: Sequence[Point], metric: str, mark: Mark, tips: Sequence[str] = ()
) -> None:
    (line,) = ax.plot(
        [p.concurrency for p in points],
        [getattr(p, metric) for p in points],
        color=mark.colour,
        marker=mark.marker,
        linestyle=mark.dash,
        linewidth=2,
        markersize=6.5,
        clip_on=False,
        zorder=3,
    )
    line.set_gid("tips:" + "|".join(tips) if tips else None)


def _ranges(ax: Axes, series: Series, metric: str) -> None:
    """Thin bars from the lowest to the highest round (or slice, of one round)."""
    for point in series.points:
        span = getattr(point, metric)
        if span is not None:
            ax.vlines(point.concurrency, *span, color=theme.GREY, linewidth=1.2, zorder=2)


def _findings(ax: Axes, ladder: Ladder) -> None:
    """Name peak, knee and capacity where they lie: one line each, words stacked when they meet."""
    names: dict[int, list[str]] = {}
    for level, name in (
        (ladder.plateau_start, "peak from here"),
        (ladder.knee, "knee"),
        (ladder.capacity, "capacity under SLO"),
    ):
        if level is not None:
            names.setdefault(level, []).append(name)
    for row, (level, words) in enumerate(sorted(names.items())):
        _finding(ax, level, f"{' · '.join(words)}: {level:,}", row)


def _finding(ax: Axes, level: int, text: str, row: int) -> None:
    """A line up to its words, which stand right of it, or left of it near the right end."""
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    down = 6 + 15 * row
    ax.axvline(level, 0, 1 - down / height, color=theme.INK, lw=1, ls=(0, (2, 3)), zorder=1)
    right, left = _room(ax, level)
    late = right < 0.08 * len(text) and left > right
    ax.annotate(
        text,
        (level, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-5 if late else 5, -down),
        textcoords="offset points",
        ha="right" if late else "left",
        va="center",
        size=9,
        weight="bold",
        zorder=6,
        bbox={"boxstyle": "square,pad=0.15", "fc": theme.PAPER, "ec": "none", "alpha": 0.85},
    )


def _room(ax: Axes, level: int) -> tuple[float, float]:
    """The inches right and left of a level inside the axes."""
    width = ax.get_window_extent().width / ax.figure.dpi
    low, high = ax.get_xlim()
    share = math.log(level / low) / math.log(high / low)
    return (1 - share) * width, share * width


def _unclaimed(ax: Axes, ladder: Ladder, metric: str) -> None:
    """Levels that claim nothing: hollow, hatched, and named where the first one lies."""
    _hollow(ax, ladder, ladder.series.limited, metric, "generator-limited")
    _hollow(ax, ladder, ladder.series.cut, metric, "cut short")


def _hollow(ax: Axes, ladder: Ladder, points: Sequence[Point], metric: str, name: str) -> None:
    for point in points:
        low, high = theme.region(ladder.levels, point.concurrency)
        ax.axvspan(low, high, facecolor="none", edgecolor=theme.GREY, hatch="///", lw=0, zorder=0)
        value = getattr(point, metric)
        if value is not None:
            ax.plot(
                [point.concurrency],
                [value],
                marker="o",
                markersize=7,
                markerfacecolor=theme.PAPER,
                markeredgecolor=theme.MUTED,
                linestyle="none",
                zorder=4,
            )
    if points:
        first = min(point.concurrency for point in points)
        ax.annotate(
            name,
            (theme.region(ladder.levels, first)[0], 0.5),
            xycoords=("data", "axes fraction"),
            xytext=(7, 0),
            textcoords="offset points",
            rotation=90,
            va="center",
            size=9,
            color=theme.MUTED,
            bbox={"boxstyle": "square,pad=0.2", "fc": theme.PAPER, "ec": "none"},
            zorder=5,
        )


def _time_limits(ax: Axes, slos: Sequence[Condition], highest: float) -> list[float]:
    """Draw the limits of response and service times that lie in reach; return them."""
    drawn = []
    for slo in slos:
        if slo.unit == "ms" and slo.name is None and slo.limit <= 3 * highest:
            _limit_line(ax, slo, f"SLO {slo.text or slo}")
            drawn.append(slo.limit)
    return drawn


def _rate_limits(ax: Axes, slos: Sequence[Condition]) -> None:
    for slo in slos:
        if slo.metric == "success" and slo.name is None:
            _limit_line(ax, slo, f"SLO {slo.text or slo}")


def _limit_line(ax: Axes, slo: Condition, label: str) -> None:
    ax.axhline(slo.limit, color=theme.PURPLE, linewidth=1.4, linestyle=(0, (7, 3)), zorder=2)
    ax.annotate(
        label,
        (0, slo.limit),
        xycoords=("axes fraction", "data"),
        xytext=(4, -8 if slo.unit == "%" else 3),
        textcoords="offset points",
        va="top" if slo.unit == "%" else "bottom",
        size=9,
        color=theme.PURPLE,
        weight="bold",
    )


def _legend(ax: Axes, marks: Sequence[tuple[Mark, str]], ladder: Ladder) -> None:
    handles = [
        Line2D([], [], color=m.colour, marker=m.marker, linestyle=m.dash, linewidth=2, label=name)
        for m, name in marks
    ]
    if any(point.at_least for point in ladder.series.points):
        handles.append(Line2D([], [], linestyle="none", label="QPS are ≥ (shared machine)"))
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=len(handles),
        frameon=False,
        borderaxespad=0.1,
        handlelength=2.8,
        fontsize=9,
    )


def _highest(values: Sequence[float]) -> float:
    return max(values, default=0.0)
