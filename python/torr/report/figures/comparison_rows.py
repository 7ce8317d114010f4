"""A row of a comparison's picture: rounds of one candidate, its estimate, interval and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from torr.report.data.comparison_scale import centre, ends
from torr.report.figures import theme
from torr.report.text import comparison_words as words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.report.data.comparison import CandidateCell, ComparisonCell
    from torr.report.data.comparison_scale import Scale
    from torr.stats.metric import Metric

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


def draw(ax: Axes, at: int, cell: ComparisonCell, entry: CandidateCell, scale: Scale) -> None:
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


def legend(fig: Figure, metric: Metric, top: float) -> None:
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


def inches(ax: Axes) -> float:
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
        ax.plot([1 + _BESIDE / inches(ax)], [at], transform=ax.get_yaxis_transform(), **marks)


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
