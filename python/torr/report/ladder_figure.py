"""Pictures of a ladder: rate and time over concurrency, and the share of requests that succeeded.

`qps_ttlb` is wrktest's picture, both curves in one; `panels` puts them one above the other, which
leaves room for p95, intervals and narrow screens. Levels that the generator limited, those cut
short, and those whose users starved are hollow and hatched, which the legend names; they are never
joined to the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from torr.report import findings, theme
from torr.report.labels import Labels
from torr.report.theme import FIRST, SECOND, THIRD, Mark
from torr.units import show_ms, show_rate

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.model.condition import Condition
    from torr.report.findings import Finding, Flag
    from torr.stats.series import Point, Series

    Entry = tuple[Artist | tuple[Artist, ...], str]

_HOLLOW: Any = {  # matplotlib's own type for it names every key there is
    "marker": "o",
    "markersize": 7,
    "markerfacecolor": theme.PAPER,
    "markeredgecolor": theme.MUTED,
    "linestyle": "none",
}


@dataclass(frozen=True)
class Ladder:
    """What a picture of a ladder shows: its levels, what was found, and the words above it."""

    series: Series
    title: str
    subtitle: str
    findings: tuple[Finding, ...] = ()
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
    flags = _finish(left, ladder, _highest(rates))
    theme.from_zero(right, _highest(times), findings.headroom(right, flags, 1.35))
    right.set_ylabel("mean time to last byte (TTLB), ms", color=SECOND.colour)
    left.set_ylabel("ok requests/s (QPS)", color=FIRST.colour)
    findings.draw(left, flags)
    _unclaimed(left, ladder, "ok_per_s")
    _legend(left, [*_curves([(FIRST, "QPS, left"), (SECOND, "mean TTLB, right")]), *_notes(ladder)])
    return fig


def success(ladder: Ladder) -> Figure:
    """Return the success rate over concurrency; every level below 100 % carries its number."""
    fig = theme.figure(10, 4.6)
    ax = _axes(fig, theme.headline(fig, ladder.title, ladder.subtitle), 0.75, 0.5)
    known = [p for p in ladder.series.points if p.success_rate is not None]
    _line(ax, known, "success_rate", FIRST)
    theme.levels_axis(ax, ladder.levels, ladder.series.noun)
    theme.success_axis(ax)
    _unclaimed(ax, ladder, "success_rate")
    limits = _rate_limits(ax, ladder.slos)
    labels = Labels(ax)
    for point in known:
        theme.success_label(labels, point.concurrency, point.success_rate)
    _name_limits(labels, ax, limits)
    _legend(ax, _hollow_marks(ladder))
    return fig


def panels(ladder: Ladder, width: float = 10, height: float = 6.4) -> Figure:
    """Return requests/s above, p95 response and mean service time below, sharing the x axis."""
    fig = theme.figure(width, height)
    sides = {"left": 0.78 / width, "right": 1 - 0.3 / width}
    upper, lower = fig.subplots(
        2, 1, sharex=True, gridspec_kw={**sides, "top": 0.94, "bottom": 0.6 / height, "hspace": 0.3}
    )
    rates = _rate_line(upper, ladder) + _ranges(upper, ladder.series, "ok_per_s_range")
    flags = _finish(upper, ladder, _highest(rates))
    upper.set_title("ok requests/s", size=10, weight="bold")
    times = _time_line(lower, ladder.series, "p95_ms", THIRD)
    times += _time_line(lower, ladder.series, "service_ms", SECOND)
    times += _ranges(lower, ladder.series, "p95_ms_range")
    limits = _time_limits(lower, ladder.slos, _highest(times))
    hollow = [p.p95_ms for p in _hollow_points(ladder) if p.p95_ms is not None]
    scale = theme.time_axis(lower, [*times, *hollow, *(slo.limit for slo in limits)])
    theme.levels_axis(lower, ladder.levels, ladder.series.noun)
    upper.tick_params(labelbottom=False)
    upper.set_xlabel("")
    lower.set_title(f"ms{scale}: p95 ▲, mean TTLB ■", size=10, weight="bold")
    findings.draw(upper, flags)
    for ax, metric in ((upper, "ok_per_s"), (lower, "p95_ms")):
        _unclaimed(ax, ladder, metric)
    _name_limits(Labels(lower), lower, limits)
    _legend(upper, _hollow_marks(ladder), below=True)
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


def _finish(ax: Axes, ladder: Ladder, highest: float) -> tuple[Flag, ...]:
    """Set both axes of the rates, with room above for the words of the findings."""
    theme.levels_axis(ax, ladder.levels, ladder.series.noun)
    flags = findings.arrange(ax, ladder.findings)
    theme.from_zero(ax, highest, findings.headroom(ax, flags, 1.12))
    return flags


def _rate_line(ax: Axes, ladder: Ladder) -> list[float]:
    values = [p.ok_per_s for p in ladder.series.shown]
    tips = [
        f"{ladder.series.places(p.concurrency)}: {'≥ ' * p.at_least}{show_rate(p.ok_per_s)} ok/s"
        for p in ladder.series.points
    ]
    _line(ax, ladder.series.points, "ok_per_s", FIRST, tips)
    return values


def _time_line(ax: Axes, series: Series, metric: str, mark: Mark) -> list[float]:
    known = [p for p in series.points if getattr(p, metric) is not None]
    name = "p95" if metric == "p95_ms" else "mean TTLB"
    tips = [f"{series.places(p.concurrency)}: {name} {show_ms(getattr(p, metric))}" for p in known]
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


def _ranges(ax: Axes, series: Series, metric: str) -> list[float]:
    """Draw thin bars from the lowest to the highest round (or slice, of one round); return ends."""
    ends: list[float] = []
    for point in series.points:
        span = getattr(point, metric)
        if span is not None:
            ax.vlines(point.concurrency, *span, color=theme.GREY, linewidth=1.2, zorder=2)
            ends += span
    return ends


def _unclaimed(ax: Axes, ladder: Ladder, metric: str) -> None:
    """Draw the levels that claim nothing: hollow, on hatching that says by its slope which kind."""
    for points, (hatch, _) in _kinds(ladder):
        for point in points:
            low, high = theme.region(ladder.levels, point.concurrency)
            ax.axvspan(
                low, high, facecolor="none", edgecolor=theme.GREY, hatch=hatch, lw=0, zorder=0
            )
            value = getattr(point, metric)
            if value is not None:
                ax.plot([point.concurrency], [value], zorder=4, clip_on=False, **_HOLLOW)


def _kinds(ladder: Ladder) -> list[tuple[tuple[Point, ...], tuple[str, str]]]:
    """The levels that claim nothing, by why; the hatching and the name of each kind."""
    series = ladder.series
    return [
        (series.limited, ("///", "generator-limited")),
        (series.cut, ("\\\\\\", "cut short")),
        (series.starved, ("...", "users starved")),
    ]


def _hollow_points(ladder: Ladder) -> tuple[Point, ...]:
    return tuple(point for points, _ in _kinds(ladder) for point in points)


def _time_limits(ax: Axes, slos: Sequence[Condition], highest: float) -> list[Condition]:
    """Draw the limits of response and service times that lie in reach; return them."""
    reached = [s for s in slos if s.unit == "ms" and s.name is None and s.limit <= 3 * highest]
    return _limit_lines(ax, reached)


def _rate_limits(ax: Axes, slos: Sequence[Condition]) -> list[Condition]:
    return _limit_lines(ax, [s for s in slos if s.metric == "success" and s.name is None])


def _limit_lines(ax: Axes, slos: list[Condition]) -> list[Condition]:
    for slo in slos:
        ax.axhline(slo.limit, color=theme.PURPLE, linewidth=1.4, linestyle=(0, (7, 3)), zorder=2)
    return slos


def _name_limits(labels: Labels, ax: Axes, slos: Sequence[Condition]) -> None:
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


def _curves(marks: Sequence[tuple[Mark, str]]) -> list[Entry]:
    return [
        (
            Line2D([], [], color=m.colour, marker=m.marker, linestyle=m.dash, linewidth=2),
            name,
        )
        for m, name in marks
    ]


def _notes(ladder: Ladder) -> list[Entry]:
    notes: list[Entry] = []
    if any(point.at_least for point in ladder.series.points):
        notes.append((Line2D([], [], linestyle="none"), "QPS are ≥ (shared machine)"))
    return [*notes, *_hollow_marks(ladder)]


def _hollow_marks(ladder: Ladder) -> list[Entry]:
    return [
        ((Patch(fc="none", ec=theme.GREY, hatch=hatch, lw=0), Line2D([], [], **_HOLLOW)), name)
        for points, (hatch, name) in _kinds(ladder)
        if points
    ]


def _legend(ax: Axes, entries: Sequence[Entry], *, below: bool = False) -> None:
    """Name the marks above the axes, or right below them where a title stands above."""
    if not entries:
        return
    is_narrow = ax.get_window_extent().width < 5 * ax.figure.dpi
    ax.legend(
        [mark for mark, _ in entries],
        [name for _, name in entries],
        loc="upper right" if below else "lower left",
        bbox_to_anchor=(1, 0) if below else (0, 1),
        ncols=2 if is_narrow else len(entries),
        frameon=False,
        borderaxespad=0.1,
        handlelength=2.4,
        columnspacing=1.0,
        fontsize=9,
    )


def _highest(values: Sequence[float]) -> float:
    return max(values, default=0.0)
