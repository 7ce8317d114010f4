"""Streams over concurrency: first texts, the pace of those behind them, tokens/s and goodput.

Each has a panel of its own, two beside each other. A limit stands in the panel
whose numbers it is about. Streams are few: a level without enough of them for a p95 has its mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torr.report.figures import ladder_marks, theme
from torr.report.figures.labels import Labels
from torr.report.figures.theme import FIRST, SECOND, THIRD

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.model.condition import Condition
    from torr.report.view.view_ladder import LadderChart

_WIDTH, _COLUMNS = 10, 2
# Heights in inches: of a row of panels, and of a row of the legend below them all.
_PANEL, _NOTE = 3.1, 0.25
_LEGEND: Any = {"loc": "lower right", "frameon": False, "fontsize": 9, "borderaxespad": 0.1}


@dataclass(frozen=True)
class _Panel:
    """One metric of streams: the limits it is held to, and how it is drawn."""

    metric: str
    draw: Callable[[Axes, LadderChart, str, list[Condition]], None]


def panels(ladder: LadderChart) -> Figure | None:
    """Return the picture of a ladder's streams; None where no level has any.

    Its height is what its panels need.
    """
    shown = _panels(ladder)
    if not shown:
        return None
    rows = math.ceil(len(shown) / _COLUMNS)
    notes = ladder_marks.hollow_marks(ladder)
    if any(panel.metric == "inter_chunk" for panel in shown):
        notes += ladder_marks.doubtful_marks(ladder)
    bottom = 0.6 + _NOTE * math.ceil(len(notes) / (_COLUMNS + 1))
    height = rows * _PANEL + bottom + 0.3
    fig = theme.figure(_WIDTH, height)
    top = 0.35 + theme.headline(fig, ladder.title, ladder.subtitle)
    sides = {"left": 0.78 / _WIDTH, "right": 1 - 0.3 / _WIDTH, "top": 1 - top / height}
    sides |= {"bottom": bottom / height, "wspace": 0.22, "hspace": 0.32}
    axes = list(fig.subplots(rows, _COLUMNS, gridspec_kw=sides, squeeze=False).flat)
    for at, (ax, panel) in enumerate(zip(axes, shown, strict=False)):
        panel.draw(ax, ladder, panel.metric, list(ladder.stream_limits(panel.metric)))
        if at + _COLUMNS < len(shown):
            ax.set_xlabel("")
    for ax in axes[len(shown) :]:
        ax.remove()
    if notes:
        fig.legend(*zip(*notes, strict=True), ncols=_COLUMNS + 1, **_LEGEND)
    return fig


def _panels(ladder: LadderChart) -> list[_Panel]:
    draw = {"tokens/s": _rate, "goodput": _share}
    return [_Panel(metric, draw.get(metric, _times)) for metric in ladder.stream_metrics]


def _times(ax: Axes, ladder: LadderChart, metric: str, slos: list[Condition]) -> None:
    """Draw a high percentile and the median or the mean."""
    statistics = ladder.statistics(metric)
    values: list[float] = []
    names = []
    marks = ((THIRD, "▲"), (SECOND, "■"))[-len(statistics) :]
    for stat, (mark, sign) in zip(statistics, marks, strict=True):
        drawn = ladder_marks.known_line(ax, ladder.series, stat, mark)
        values += drawn
        names += [f"{stat.removeprefix(metric).strip()} {sign}"] if drawn else []
        if metric == "inter_chunk":
            ladder_marks.doubtful(ax, ladder, stat)
    middle = statistics[-1]
    hollow = [p.value(middle) for p in ladder_marks.hollow_points(ladder)]
    values += [value for value in hollow if value is not None]
    limits = ladder_marks.limit_lines(ax, [s for s in slos if s.limit <= 3 * max(values)])
    scale = theme.time_axis(ax, [*values, *(slo.limit for slo in limits)])
    words = f": {', '.join(names)}" if names else ""
    _finish(ax, ladder, f"{metric}, ms{scale}{words}", middle, limits)


def _rate(ax: Axes, ladder: LadderChart, metric: str, slos: list[Condition]) -> None:
    ladder_marks.known_line(ax, ladder.series, metric, FIRST)
    highest = max(p.value(metric) or 0.0 for p in ladder.series.shown)
    limits = ladder_marks.limit_lines(ax, [s for s in slos if s.limit <= 3 * highest])
    theme.from_zero(ax, max([highest, *(slo.limit for slo in limits)]))
    _finish(ax, ladder, metric, metric, limits)


def _share(ax: Axes, ladder: LadderChart, metric: str, slos: list[Condition]) -> None:
    ladder_marks.known_line(ax, ladder.series, metric, FIRST)
    theme.success_axis(ax)
    ax.set_ylabel("")
    limits = ladder_marks.limit_lines(ax, slos)
    _finish(ax, ladder, f"{metric}: within every SLO of latency", metric, limits)


def _finish(
    ax: Axes, ladder: LadderChart, title: str, metric: str, limits: list[Condition]
) -> None:
    """Set the axis of levels, and draw what needs both axes."""
    theme.levels_axis(ax, ladder.levels, ladder.series.noun)
    ax.set_title(title, size=10, weight="bold")
    ladder_marks.unclaimed(ax, ladder, metric)
    ladder_marks.name_limits(Labels(ax), ax, limits)
