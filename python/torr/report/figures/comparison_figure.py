"""The picture of a comparison: candidates as rows, every round a dot, interval and margin drawn.

One panel a cell, all on the same axis: the candidate's number as a multiple of the baseline's in
the same round, or the difference in percentage points of shares. Words differ by the shape of their
marker before they differ by colour. The baseline's dots are its own rounds around their median.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torr.report.data.comparison_scale import Scale
from torr.report.figures import comparison_rows as rows
from torr.report.figures import theme
from torr.verdicts.judgement import DELTA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.report.data.comparison import Comparison, ComparisonCell

_WIDTH = 10.0  # inches, as all below
_ROW, _TITLE, _TICKS, _BELOW, _LEGEND, _LEFT = 0.27, 0.34, 0.26, 0.42, 0.28, 0.1
_AMOUNT = 0.66
"""Inches right of a panel, where the ratios stand."""
_LETTER, _TITLE_LETTER = 0.075, 0.08
_MOST_LETTERS = 24


def panels(comparison: Comparison, titles: tuple[str, str]) -> Figure | None:
    """Return every cell of a comparison as a panel; None where no trial was measured.

    `titles` are the verdict and what it is about.
    """
    cells = [cell for cell in comparison.cells if any(e.trials or e.failures for e in cell.entries)]
    scale = Scale.of(comparison)
    if scale is None:
        return None
    across = _columns(len(cells))
    lines = math.ceil(len(cells) / across)
    height = _TITLE + _ROW * len(comparison.names) + _TICKS
    # The headline has the same height in a figure of any height.
    top = theme.headline(theme.figure(_WIDTH, 3), *titles)
    whole = top + _LEGEND + lines * height + _BELOW
    fig = theme.figure(_WIDTH, whole)
    theme.headline(fig, *titles)
    rows.legend(fig, comparison.primary, 1 - top / whole)
    shown = [_cut(name, _MOST_LETTERS) for name in comparison.names]
    names = 0.25 + max(map(len, shown)) * _LETTER
    width = (_WIDTH - names - _LEFT) / across
    for number, cell in enumerate(cells):
        line, column = divmod(number, across)
        box = (
            names + column * width,
            whole - top - _LEGEND - line * height - _TITLE - _ROW * len(comparison.names),
            width - _AMOUNT,
            _ROW * len(comparison.names),
        )
        ax = _axes(fig, box)
        _panel(ax, cell, scale, shown if column == 0 else ())
        over = (box[1] + box[3] + 0.07) / whole
        title = _cut(cell.words, int(width / _TITLE_LETTER))
        fig.text(box[0] / _WIDTH, over, title, size=9.5, weight="bold")
    middle = (names + (_WIDTH - names) / 2) / _WIDTH
    axis = _axis_words(comparison, scale)
    fig.text(middle, 0.1 / whole, axis, ha="center", size=9, color=theme.MUTED)
    return fig


def _axes(fig: Figure, box: Sequence[float]) -> Axes:
    """Return axes at a position in inches: left, bottom, width, height."""
    width, height = (float(side) for side in fig.get_size_inches())
    return fig.add_axes((box[0] / width, box[1] / height, box[2] / width, box[3] / height))


def _panel(ax: Axes, cell: ComparisonCell, scale: Scale, names: Sequence[str]) -> None:
    """Draw one cell: the margin, and a row for each candidate."""
    count = len(cell.entries)
    ax.set_xlim(*scale.limits)
    ax.set_ylim(count - 0.5, -0.5)
    ax.set_xticks(*scale.ticks(rows.inches(ax)))
    ax.tick_params(axis="x", labelsize=8, pad=1, length=2)
    ax.set_yticks(range(count), names or [""] * count, size=8.5)
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    low, high = scale.margin
    ax.axvspan(low, high, color=theme.BAND, alpha=0.45, linewidth=0, zorder=0)
    ax.axvline(0.0, color=theme.MUTED, linewidth=0.8, zorder=1)
    for at, entry in enumerate(cell.entries):
        rows.draw(ax, at, cell, entry, scale)


def _axis_words(comparison: Comparison, scale: Scale) -> str:
    metric = comparison.primary
    baseline = _cut(comparison.baseline, 40)
    if metric.is_share:
        return f"{metric.label}, points from {baseline} (band: ±{scale.half:.2g}, the same)"
    band = f"band: ±{100 * DELTA:g} %, the same"
    return f"{metric.label} as a multiple of {baseline} in the same round (log scale; {band})"


def _columns(cells: int) -> int:
    """Return how many panels stand beside each other: as few as need no third line."""
    if cells == 1:
        return 1
    return 2 if cells in (2, 4) else 3


def _cut(text: str, letters: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= letters else text[: max(1, letters - 1)].rstrip() + "…"
