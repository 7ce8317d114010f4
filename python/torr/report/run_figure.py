"""Pictures over time: response times as bands, ok/s, and errors below on the same axis.

A percentile that too few answers carry in a slice leaves a gap. Streams have their first text and
their tokens as well, and percentiles in steps, each as long as it takes to carry one; behind them
the range of every slice. What is told of a stream as a whole stands at its end.
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
_DRAWN = ("min", "max", *(stat for stat, _ in _LINES))
_NAMES = {"ttft": "ttft", "response": "response time"}
_RATES = {"tokens_per_s": ("tokens/s of streams that ended", theme.PURPLE)}
_RATES |= {"ok_per_s": ("ok requests/s", theme.GREEN)}


def timeline(levels: Sequence[Level], width: float = 10, height: float = 6.6) -> Figure | None:
    """Return the picture of all slices of these levels; None when there are none.

    `height` is that of answers that are no streams; of streams there is more to show.
    """
    stretches = stretches_of(levels)
    if not stretches:
        return None
    times, rates, errors = _axes(stretches, width, height)
    for metric, ax in times.items():
        _draw_times(ax, stretches, metric)
    for rate, ax in rates.items():
        for stretch in stretches:
            _rates(ax, stretch, rate)
        _dress(ax, _RATES[rate][0])
    _draw_errors(errors, stretches)
    every = [*times.values(), *rates.values(), errors]
    for ax in every:
        _separate(ax, stretches, words=ax is every[0])
        last = stretches[-1].pieces[-1]
        ax.set_xlim(stretches[0].pieces[0].start, last.start + last.seconds)
    for metric, ax in times.items():
        _name_lines(ax, stretches[-1], metric)
    if len(stretches) > 1:
        _name_levels(every[0], stretches)
    errors.set_xlabel("seconds" if len(stretches) == 1 else "seconds, level after level")
    return errors.get_figure(root=True)


def _axes(
    stretches: Sequence[Stretch], width: float, height: float
) -> tuple[dict[str, Axes], dict[str, Axes], Axes]:
    """The axes of each kind of time and of each rate, from above, and of the errors."""
    pieces = [piece for stretch in stretches for piece in stretch.pieces]
    times = [name for name in _NAMES if any(name in piece.times for piece in pieces)]
    rates = [name for name in _RATES if any(piece.rate(name) is not None for piece in pieces)]
    shares = [3] * len(times) + [2] * len(rates) + [1]
    height *= 0.4 + 0.1 * sum(shares)
    fig = theme.figure(width, height)
    grid = {"left": 0.85 / width, "right": 1 - 0.55 / width, "top": 1 - 0.35 / height}
    grid |= {"bottom": 0.6 / height, "hspace": 0.38 if len(shares) == 3 else 0.45}
    made = iter(
        fig.subplots(len(shares), 1, sharex=True, gridspec_kw={**grid, "height_ratios": shares})
    )
    return {name: next(made) for name in times}, {name: next(made) for name in rates}, next(made)


def _draw_times(ax: Axes, stretches: Sequence[Stretch], metric: str) -> None:
    for stretch in stretches:
        _times(ax, stretch, metric)
    known = _known_times(stretches, metric)
    is_pooled = any(stretch.is_pooled for stretch in stretches)
    # The lines carry their names; what they do not say is what the grey is.
    words = ": p50, p95, p99" if not is_pooled else " (grey: range)" if known else ": none"
    _dress(ax, f"{_NAMES[metric]}, ms{words}")
    if is_pooled and not known:
        ax.set_yticks([0])
    if len(stretches) > 1 and (known or not is_pooled):
        scale = theme.time_axis(ax, known)
        # The lines carry their names: on a narrow page there is no room for them here as well.
        ax.set_title(f"{_NAMES[metric]}, ms{scale}", size=10, weight="bold")


def _times(ax: Axes, stretch: Stretch, metric: str) -> None:
    """Draw lines through the middle of slices; where they are pooled, steps from edge to edge."""
    xs = [piece.start + piece.seconds / 2 for piece in stretch.pieces]
    times = {stat: [p.time(metric, stat) for p in stretch.pieces] for stat in _DRAWN}
    if stretch.is_pooled:
        xs = [x for piece in stretch.pieces for x in (piece.start, piece.start + piece.seconds)]
        times = {stat: [y for y in values for _ in range(2)] for stat, values in times.items()}
        # A slice with one value has a range of no height: the edge shows it.
        ax.fill_between(xs, times["min"], times["max"], color=theme.GREY, alpha=0.3, lw=1)
    for low, high, alpha in _BANDS:
        ax.fill_between(xs, times[low], times[high], color=theme.BAND, alpha=alpha, lw=0)
    for stat, dash in _LINES:
        ax.plot(xs, times[stat], color=theme.BLUE, linewidth=1.5, linestyle=dash)


def _name_lines(ax: Axes, stretch: Stretch, metric: str) -> None:
    """Name each percentile at its last value, at least a line's height above the one below."""
    lowest = -math.inf
    for stat, _ in _LINES:
        known = [v for v in (p.time(metric, stat) for p in stretch.pieces) if not math.isnan(v)]
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


def _rates(ax: Axes, stretch: Stretch, rate: str) -> None:
    edges = [piece.start for piece in stretch.pieces]
    edges.append(stretch.pieces[-1].start + stretch.pieces[-1].seconds)
    ax.stairs(
        [_rate(piece, rate) for piece in stretch.pieces],
        edges,
        baseline=None,
        color=_RATES[rate][1],
        lw=1.6,
    )


def _rate(piece: Piece, name: str) -> float:
    """One rate of a slice: nothing is known of it where answers came and did not say."""
    value = piece.rate(name)
    return (math.nan if piece.ok_per_s else 0.0) if value is None else value


def _draw_errors(ax: Axes, stretches: Sequence[Stretch]) -> None:
    failing = [piece for s in stretches for piece in s.pieces if piece.errors_per_s]
    ax.bar(
        [piece.start for piece in failing],
        [piece.errors_per_s for piece in failing],
        [piece.seconds for piece in failing],
        align="edge",
        color=theme.ORANGE,
        linewidth=0,
    )
    _dress(ax, "errors/s" if failing else "errors/s: none")
    if not failing:
        ax.set_yticks([0])


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


def _known_times(stretches: Sequence[Stretch], metric: str) -> list[float]:
    """What is drawn of a kind of time; of pooled slices their ranges too."""
    values = [
        piece.time(metric, stat)
        for stretch in stretches
        for piece in stretch.pieces
        for stat in _DRAWN
        if stretch.is_pooled or stat.startswith("p")
    ]
    return [value for value in values if not math.isnan(value)]
