"""The picture of a comparison: candidates as rows, every round a dot, interval and margin drawn.

One panel a cell, all on the same axis: the candidate's number as a multiple of the baseline's in
the same round, or the difference in percentage points of shares. Words differ by the shape of their
marker before they differ by colour. The baseline's dots are its own rounds around their median.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from torr.report.data.comparison_scale import Scale, centre, ends
from torr.report.figures import theme
from torr.report.text import comparison_words as words
from torr.verdicts.judgement import DELTA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.report.data.comparison import CandidateCell, Comparison, ComparisonCell
    from torr.stats.metric import Metric

_WIDTH = 10.0  # inches, as all below
_ROW, _TITLE, _TICKS, _BELOW, _LEGEND, _LEFT = 0.27, 0.34, 0.26, 0.42, 0.28, 0.1
_AMOUNT = 0.66
"""Inches right of a panel, where the ratios stand."""
_LETTER, _TITLE_LETTER = 0.075, 0.08
_MOST_LETTERS = 24
LEGEND = ("better", "worse", "same", "inconclusive", "no verdict")
_LOOKS = {
    "better": (theme.GREEN, "^"),
    "worse": (theme.ORANGE, "v"),
    "same": (theme.BLUE, "s"),
    "inconclusive": (theme.MUTED, "o"),
    "no verdict": (theme.GREY, "x"),
}
_HOLLOW = frozenset({"inconclusive"})
_GOLDEN = 0.618
_BESIDE = 0.13
"""Inches right of the axis, where the marker of a word without a ratio stands."""
_SPREAD = 0.44
"""The height of a row over which its dots are scattered, so that they do not hide each other."""


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
    _legend(fig, comparison.primary, 1 - top / whole)
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
    ax.set_xticks(*scale.ticks(_inches(ax)))
    ax.tick_params(axis="x", labelsize=8, pad=1, length=2)
    if names:
        ax.set_yticks(range(count), names, size=8.5)
        ax.grid(visible=False)
    else:
        ax.yaxis.set_visible(False)
    ax.spines["left"].set_visible(False)
    low, high = scale.margin
    ax.axvspan(low, high, color=theme.BAND, alpha=0.45, linewidth=0, zorder=0)
    ax.axvline(0.0, color=theme.MUTED, linewidth=0.8, zorder=1)
    for at, entry in enumerate(cell.entries):
        _row(ax, at, cell, entry, scale)


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


def _row(ax: Axes, at: int, cell: ComparisonCell, entry: CandidateCell, scale: Scale) -> None:
    """Draw one candidate of one cell into the row `at`."""
    standing = cell.standing(entry)
    _dots(ax, at, cell, entry, scale)
    if standing in _LOOKS:
        _estimate(ax, at, cell, entry, scale)
    _amount(ax, at, cell, entry)
    if standing == "failed":
        _say(ax, at, f"failed: {entry.failures[0].kind.replace('_', ' ')}")
    elif standing in ("not measured", "no baseline"):
        _say(ax, at, standing)


def _legend(fig: Figure, metric: Metric, top: float) -> None:
    """Say what markers and lines mean, in a line that begins at `top` of the figure."""
    shown: list[Line2D] = [_dot(theme.MUTED)]
    labels = ["one round"]
    for word in LEGEND:
        shown.append(Line2D([], [], **_marker(word)))
        labels.append(metric.word(word))
    fig.legend(
        shown,
        labels,
        loc="upper left",
        bbox_to_anchor=(0, top),
        ncols=len(shown),
        frameon=False,
        fontsize=8.5,
        handlelength=1.2,
        columnspacing=1.4,
        handletextpad=0.4,
        borderaxespad=0.0,
    )


def _inches(ax: Axes) -> float:
    """Return the width of a panel's axis."""
    return float(ax.get_window_extent().width / ax.figure.dpi)


def _dots(ax: Axes, at: int, cell: ComparisonCell, entry: CandidateCell, scale: Scale) -> None:
    """Draw every round as a dot; one beyond the axis as an arrow at its edge."""
    colour = _look(cell.standing(entry))[0]
    rounds = scale.rounds(cell, entry)
    inside = [(n, x) for n, x in rounds if scale.limits[0] <= x <= scale.limits[1]]
    for marker, some in (
        (".", inside),
        ("<", [(n, x) for n, x in rounds if x < scale.limits[0]]),
        (">", [(n, x) for n, x in rounds if x > scale.limits[1]]),
    ):
        if not some:
            continue
        ax.plot(
            [scale.shown(x) for _, x in some],
            [at + _SPREAD * ((n * _GOLDEN) % 1 - 0.5) for n, _ in some],
            linestyle="none",
            marker=marker,
            markersize=5.5,
            markeredgewidth=0,
            color=colour,
            alpha=0.5,
            zorder=2,
            clip_on=False,
        )


def _estimate(ax: Axes, at: int, cell: ComparisonCell, entry: CandidateCell, scale: Scale) -> None:
    """Draw the estimate as the marker of its word, on its interval or beside the axis."""
    verdict, standing = cell.verdict(entry), cell.standing(entry)
    span, middle = ends(verdict, scale), centre(verdict, scale)
    if span is not None:
        between = [scale.shown(end) for end in span]
        colour = _look(standing)[0]
        ax.plot(between, [at, at], color=colour, linewidth=2.2, zorder=3, solid_capstyle="butt")
    if middle is not None:
        marks = {**_marker(standing), "zorder": 4, "clip_on": False}
        ax.plot([scale.shown(middle)], [at], **marks)
    elif verdict.word is not None:
        # In the column of ratios: on the axis it would be one.
        marks = {**_marker(standing), "markersize": 5, "clip_on": False}
        ax.plot([1 + _BESIDE / _inches(ax)], [at], transform=ax.get_yaxis_transform(), **marks)


def _amount(ax: Axes, at: int, cell: ComparisonCell, entry: CandidateCell) -> None:
    """Write the ratio, right of the row."""
    verdict = cell.verdict(entry)
    is_base = entry.name == cell.baseline
    text = "baseline" if is_base and entry.trials else words.ratio(verdict)
    if verdict.difference is not None:
        text = text.replace(" points", "")
    ax.annotate(
        "" if text == "–" else text,
        (1, at),
        xycoords=("axes fraction", "data"),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        size=8.5,
        color=theme.MUTED if is_base else _look(cell.standing(entry))[0],
        annotation_clip=False,
    )


def _say(ax: Axes, at: int, text: str) -> None:
    """Write words where there are no dots."""
    ax.annotate(
        text,
        (0.02, at),
        xycoords=("axes fraction", "data"),
        va="center",
        size=8.5,
        color=theme.ORANGE if text.startswith("failed") else theme.MUTED,
    )


def _look(standing: str) -> tuple[str, str]:
    """Return the colour and the marker of a word; grey where there is none."""
    return _LOOKS.get(standing, (theme.GREY, ""))


def _marker(word: str) -> dict[str, Any]:
    colour, marker = _LOOKS[word]
    return {
        "linestyle": "none",
        "marker": marker,
        "markersize": 6.5,
        "color": colour,
        "markerfacecolor": theme.PAPER if word in _HOLLOW else colour,
        "markeredgecolor": theme.PAPER if marker in "^vs" else colour,
        "markeredgewidth": 0.8 if marker in "^vs" else 1.6,
    }


def _dot(colour: str) -> Line2D:
    return Line2D([], [], linestyle="none", marker=".", markersize=5, color=colour, alpha=0.6)
