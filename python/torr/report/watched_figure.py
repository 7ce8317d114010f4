"""CPU over time: of target and torr as lines, of each core as a strip, the darker the fuller.

The levels of a ladder stand behind each other. Many looks are drawn as the means of a few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from torr.report import theme
from torr.report.watched import series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.stats.series import Level

MOST_STEPS = 120
MOST_CORES = 32
_LINES = {"target": theme.BLUE, "generator": theme.ORANGE}
_NAMES = {"target": "target", "generator": "torr"}
_DASHES = {"target": (0, ()), "generator": (0, (5, 2))}


@dataclass(frozen=True)
class _Step:
    """The means of some intervals at their place on the axis."""

    start: float
    seconds: float
    lines: dict[str, float]
    cores: tuple[float, ...]


def cpu(levels: Sequence[Level], width: float = 10) -> Figure | None:
    """Return the picture of these levels; None where no core was watched."""
    steps = _pooled(_steps(levels))
    rows = min(MOST_CORES, max((len(step.cores) for step in steps), default=0))
    if not rows:
        return None
    strips = 0.5 + 0.16 * rows
    height = 2.2 + strips + 0.9
    fig = theme.figure(width, height)
    grid = {"left": 0.85 / width, "right": 1 - 0.55 / width, "top": 1 - 0.35 / height}
    grid |= {"bottom": 0.6 / height, "hspace": 0.5}
    upper, lower = fig.subplots(
        2, 1, sharex=True, gridspec_kw={**grid, "height_ratios": [2.2, strips]}
    )
    _draw_lines(upper, steps)
    _draw_cores(lower, steps, rows)
    lower.set_xlim(steps[0].start, steps[-1].start + steps[-1].seconds)
    lower.set_xlabel("seconds" if len(levels) == 1 else "seconds, level after level")
    return fig


def _steps(levels: Sequence[Level]) -> list[_Step]:
    made: list[_Step] = []
    for level in levels:
        starts, seconds = (list(series_of(level, name)) for name in ("t_s", "seconds"))
        cores = list(zip(*_rows(level), strict=True))
        lines = {name: list(series_of(level, name, "cpu_rate")) for name in _LINES}
        first = next((start for start in starts if start is not None), 0.0)
        end = made[-1].start + made[-1].seconds if made else None
        offset = 0.0 if end is None else end - (first or 0.0)
        for at, (start, lasts) in enumerate(zip(starts, seconds, strict=True)):
            known = {name: _number(values, at) for name, values in lines.items()}
            busy = tuple(map(_or_nan, cores[at])) if at < len(cores) else ()
            made.append(_Step(offset + (start or 0.0), lasts or 0.0, known, busy))
    return made


def _rows(level: Level) -> list[list[float | None]]:
    """How busy each core was, the busiest ones where there are too many."""
    busy = ((level.get("monitor") or {}).get("cores") or {}).get("busy_rate") or []
    fullest = sorted(range(len(busy)), key=lambda n: -sum(v or 0.0 for v in busy[n]))[:MOST_CORES]
    return [busy[n] for n in sorted(fullest)]


def _pooled(steps: list[_Step]) -> list[_Step]:
    wide = math.ceil(len(steps) / MOST_STEPS)
    return [_mean(steps[at : at + wide]) for at in range(0, len(steps), max(1, wide))]


def _mean(steps: Sequence[_Step]) -> _Step:
    if len(steps) == 1:
        return steps[0]
    seconds = sum(step.seconds for step in steps)
    lines = {n: _average([s.lines[n] for s in steps]) for n in steps[0].lines}
    cores = tuple(_average(list(of)) for of in zip(*(s.cores for s in steps), strict=False))
    return _Step(steps[0].start, seconds, lines, cores)


def _draw_lines(ax: Axes, steps: Sequence[_Step]) -> None:
    edges = [step.start for step in steps] + [steps[-1].start + steps[-1].seconds]
    highest = 0.0
    for name, colour in _LINES.items():
        values = [step.lines[name] for step in steps]
        known = [value for value in values if not math.isnan(value)]
        if not known:
            continue
        highest = max(highest, *known)
        ax.stairs(
            values, edges, baseline=None, color=colour, lw=1.6, ls=_DASHES[name], label=_NAMES[name]
        )
    ax.set_title("CPU, percent of one core", size=10, weight="bold")
    theme.from_zero(ax, highest, headroom=1.25)
    if highest:
        ax.legend(loc="upper right", frameon=False, fontsize=9, ncols=2, borderaxespad=0)


def _draw_cores(ax: Axes, steps: Sequence[_Step], rows: int) -> None:
    for at in range(1, 11):
        boxes = [
            Rectangle((step.start, row + 0.06), step.seconds, 0.88)
            for step in steps
            for row, busy in enumerate(step.cores[:rows])
            if not math.isnan(busy) and math.ceil(busy / 10) == at
        ]
        ax.add_collection(PatchCollection(boxes, facecolor=theme.GREEN, alpha=at / 10, lw=0))
    ax.set_ylim(rows, 0)
    ax.set_yticks([row + 0.5 for row in range(rows)], [str(row) for row in range(rows)], size=7)
    ax.grid(visible=False)
    ax.set_title("cores: the darker the fuller", size=10, weight="bold")


def _number(values: Sequence[float | None], at: int) -> float:
    return _or_nan(values[at]) if at < len(values) else math.nan


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _average(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
