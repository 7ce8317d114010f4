"""The picture of a comparison: candidates as rows, every round a dot, interval and margin drawn.

One panel a cell, all on the same axis: the candidate's number as a multiple of the baseline's in
the same round, or the difference in percentage points of shares. Words differ by the shape of their
marker before they differ by colour. The baseline's dots are its own rounds around their median.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torr.report import comparison_rows as rows
from torr.report import theme
from torr.report.comparison_scale import Scale
from torr.stats.judgement import DELTA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.report.comparison import Comparison, Place

_ROW, _TITLE, _TICKS, _BELOW = 0.27, 0.34, 0.26, 0.42  # inches
_LEGEND_LINE, _LEGEND_ITEM = 0.2, 1.3
_NARROW = 6.0
_LEFT = 0.1
_AMOUNT = 0.66
"""Inches right of a panel, where the ratios stand."""
_LETTER, _TITLE_LETTER = 0.075, 0.08
_MOST_LETTERS = {True: 17, False: 24}
"""Of a name, in a narrow and in a wide picture."""


def panels(
    found: Comparison, width: float = 10, titles: tuple[str, str] | None = None
) -> Figure | None:
    """Return every cell of a comparison as a panel; None where no trial was measured.

    `titles` are the finding and what it is about, for a picture that stands alone.
    """
    places = [place for place in found.places if any(e.trials or e.failures for e in place.entries)]
    scale = Scale.of(found)
    if scale is None:
        return None
    across = _columns(len(places), width)
    lines = math.ceil(len(places) / across)
    height = _TITLE + _ROW * len(found.names) + _TICKS
    legend = _LEGEND_LINE * math.ceil((len(rows.LEGEND) + 1) / _legend_columns(width)) + 0.08
    fig = theme.figure(width, 3)
    top = theme.headline(fig, *titles) if titles else 0.06
    whole = top + legend + lines * height + _BELOW
    fig = theme.figure(width, whole)
    if titles:
        theme.headline(fig, *titles)
    rows.legend(fig, found.primary, 1 - top / whole, _legend_columns(width))
    shown = [_cut(name, _MOST_LETTERS[width < _NARROW]) for name in found.names]
    names = min(width / 2.6, 0.25 + max(map(len, shown)) * _LETTER)
    each = (width - names - _LEFT) / across
    for number, place in enumerate(places):
        line, column = divmod(number, across)
        box = (
            names + column * each,
            whole - top - legend - line * height - _TITLE - _ROW * len(found.names),
            each - _AMOUNT,
            _ROW * len(found.names),
        )
        ax = _axes(fig, box)
        _panel(ax, place, scale, shown if column == 0 else ())
        # A narrow picture has no room for a title right of the names.
        start = _LEFT if width < _NARROW else box[0]
        title = _cut(place.words, int((box[0] - start + each) / _TITLE_LETTER))
        over = (box[1] + box[3] + 0.07) / whole
        fig.text(start / width, over, title, size=9.5, weight="bold")
    middle = 0.5 if width < _NARROW else (names + (width - names) / 2) / width
    said = _axis_words(found, scale, width)
    fig.text(middle, 0.1 / whole, said, ha="center", size=9, color=theme.MUTED)
    return fig


def _axes(fig: Figure, box: Sequence[float]) -> Axes:
    """Axes at a place in inches: left, bottom, width, height."""
    width, height = (float(side) for side in fig.get_size_inches())
    return fig.add_axes((box[0] / width, box[1] / height, box[2] / width, box[3] / height))


def _panel(ax: Axes, place: Place, scale: Scale, names: Sequence[str]) -> None:
    """One cell: the margin, and a row for each candidate."""
    count = len(place.entries)
    ax.set_xlim(*scale.limits)
    ax.set_ylim(count - 0.5, -0.5)
    ax.set_xticks(*scale.ticks(rows.inches(ax)))
    ax.tick_params(axis="x", labelsize=8, pad=1, length=2)
    ax.set_yticks(range(count), names or [""] * count, size=8.5)
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    low, high = scale.margin
    ax.axvspan(low, high, color=theme.BAND, alpha=0.45, linewidth=0, zorder=0)
    ax.axvline(scale.none, color=theme.MUTED, linewidth=0.8, zorder=1)
    for at, entry in enumerate(place.entries):
        rows.draw(ax, at, place, entry, scale)


def _axis_words(found: Comparison, scale: Scale, width: float) -> str:
    metric = found.primary
    baseline = _cut(found.baseline, 40 if width > _NARROW else 18)
    if metric.is_share:
        return f"{metric.label}, points from {baseline} (band: ±{scale.half:.2g}, the same)"
    band = f"band: ±{100 * DELTA:g} %, the same"
    if width < _NARROW:
        return f"{metric.label}, × {baseline} ({band})"
    return f"{metric.label} as a multiple of {baseline} in the same round (log scale; {band})"


def _columns(places: int, width: float) -> int:
    """How many panels stand beside each other: as few as need no third line."""
    if width < _NARROW or places == 1:
        return 1
    return 2 if places in (2, 4) else 3


def _legend_columns(width: float) -> int:
    return min(len(rows.LEGEND) + 1, int(width / _LEGEND_ITEM))


def _cut(text: str, letters: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= letters else text[: max(1, letters - 1)].rstrip() + "…"
