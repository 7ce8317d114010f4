"""Pictures over time: response times as bands, ok/s, and errors below on the same axis.

A percentile that too few answers carry in a slice leaves a gap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torr.report import theme
from torr.report.stretches import Piece, Stretch, stretches_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.stats.series import Level

_BANDS = (("p50", "p95", 0.55), ("p95", "p99", 0.25))
_LINES = (("p50", (0, ())), ("p95", (0, (5, 2))), ("p99", (0, (1, 1.5))))


def timeline(levels: Sequence[Level], width: float = 10, height: float = 6.6) -> Figure | None:
    """Return the picture of all slices of these levels; None when there are none."""
    stretches = stretches_of(levels)
    if not stretches:
        return None
    fig = theme.figure(width, height)
    grid = {"left": 0.85 / width, "right": 1 - 0.55 / width, "top": 1 - 0.35 / height}
    grid |= {"bottom": 0.6 / height, "hspace": 0.38}
    times, rates, errors = fig.subplots(
        3, 1, sharex=True, gridspec_kw={**grid, "height_ratios": [3, 2, 1]}
    )
    for stretch in stretches:
        _times(times, stretch)
        _rates(rates, stretch)
        _errors(errors, stretch)
    _dress(times, "response time, ms: p50, p95, p99")
    if len(stretches) > 1:
        scale = theme.time_axis(times, _known_times(stretches))
        # The lines carry their names: on a narrow page there is no room for them here as well.
        times.set_title(f"response time, ms{scale}", size=10, weight="bold")
    _dress(rates, "ok requests/s")
    _dress(errors, "errors/s" if _has_errors(stretches) else "errors/s: none")
    for ax in (times, rates, errors):
        _separate(ax, stretches, words=ax is times)
        last = stretches[-1].pieces[-1]
        ax.set_xlim(stretches[0].pieces[0].start, last.start + last.seconds)
    if not _has_errors(stretches):
        errors.set_yticks([0])
    _name_lines(times, stretches[-1])
    if len(stretches) > 1:
        _name_levels(times, stretches)
    errors.set_xlabel("seconds" if len(stretches) == 1 else "seconds, level after level")
    return fig


def _times(ax: Axes, stretch: Stretch) -> None:
    xs = [piece.start + piece.seconds / 2 for piece in stretch.pieces]
    values = {stat: [_value(piece, stat) for piece in stretch.pieces] for stat, _ in _LINES}
    for low, high, alpha in _BANDS:
        ax.fill_between(xs, values[low], values[high], color=theme.BAND, alpha=alpha, lw=0)
    for stat, dash in _LINES:
        ax.plot(xs, values[stat], color=theme.BLUE, linewidth=1.5, linestyle=dash)


def _name_lines(ax: Axes, stretch: Stretch) -> None:
    """Name each percentile at its last value, at least a line's height above the one below."""
    lowest = -math.inf
    for stat, _ in _LINES:
        known = [v for v in (_value(p, stat) for p in stretch.pieces) if not math.isnan(v)]
        if not known:
            continue
        at = ax.transData.transform((0, known[-1]))[1] * 72 / ax.figure.dpi
        lowest = max(at, lowest + 11)
        ax.annotate(
            stat,
            (1, known[-1]),
            xycoords=("axes fraction", "data"),
            xytext=(4, lowest - at),
            textcoords="offset points",
            va="center",
            size=9,
            color=theme.BLUE,
        )


def _rates(ax: Axes, stretch: Stretch) -> None:
    edges = [piece.start for piece in stretch.pieces]
    edges.append(stretch.pieces[-1].start + stretch.pieces[-1].seconds)
    ax.stairs(
        [piece.ok_per_s for piece in stretch.pieces],
        edges,
        baseline=None,
        color=theme.GREEN,
        lw=1.6,
    )


def _errors(ax: Axes, stretch: Stretch) -> None:
    failing = [piece for piece in stretch.pieces if piece.errors_per_s]
    ax.bar(
        [piece.start for piece in failing],
        [piece.errors_per_s for piece in failing],
        [piece.seconds for piece in failing],
        align="edge",
        color=theme.ORANGE,
        linewidth=0,
    )


def _dress(ax: Axes, title: str) -> None:
    ax.set_title(title, size=10, weight="bold")
    theme.from_zero(ax, ax.dataLim.ymax if math.isfinite(ax.dataLim.ymax) else 0)


def _separate(ax: Axes, stretches: Sequence[Stretch], *, words: bool) -> None:
    for stretch in stretches[1:]:
        ax.axvline(stretch.start, color=theme.GRID, linewidth=1)
    first, last = stretches[0].pieces[0], stretches[-1].pieces[-1]
    _shade(ax, first.start, 0.0, "warm-up" if words else "")
    _shade(ax, stretches[-1].end, last.start + last.seconds, "drain" if words else "")


def _shade(ax: Axes, begin: float, end: float, name: str) -> None:
    if begin >= end:
        return
    ax.axvspan(begin, end, facecolor=theme.GRID, alpha=0.5, lw=0, zorder=0)
    ax.annotate(
        name,
        (begin, 1),
        xycoords=("data", "axes fraction"),
        xytext=(3, -3),
        textcoords="offset points",
        va="top",
        size=8,
        color=theme.MUTED,
    )


def _name_levels(ax: Axes, stretches: Sequence[Stretch]) -> None:
    """Connections of each level inside the top of the picture, where there is room for them."""
    whole = stretches[-1].end - stretches[0].start
    fig_width = float(ax.figure.get_figure(root=True).get_size_inches()[0])
    for stretch in stretches:
        share = (stretch.end - stretch.start) / whole
        if share * fig_width > 0.3:
            ax.annotate(
                stretch.name,
                ((stretch.start + stretch.end) / 2, 1),
                xycoords=("data", "axes fraction"),
                xytext=(0, -3),
                size=8.5,
                textcoords="offset points",
                ha="center",
                va="top",
                color=theme.MUTED,
            )


def _value(piece: Piece, stat: str) -> float:
    value = piece.times.get(stat)
    return math.nan if value is None else float(value)


def _known_times(stretches: Sequence[Stretch]) -> list[float]:
    pieces = [piece for stretch in stretches for piece in stretch.pieces]
    values = [_value(piece, stat) for piece in pieces for stat, _ in _LINES]
    return [value for value in values if not math.isnan(value)]


def _has_errors(stretches: Sequence[Stretch]) -> bool:
    return any(piece.errors_per_s for stretch in stretches for piece in stretch.pieces)
