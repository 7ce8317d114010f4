"""Peak, knee and capacity in a picture of a ladder: a line each, with its words above all points.

The words stand in rows of their own between the highest point and the top, so they hide none. Each
kind has its colour and dashes, and no line runs through the words of another: of at most three
findings every arrangement is tried, and the best is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal

from matplotlib.text import Text

from torr.report.figures import theme

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from torr.report.view.view_ladder import NamedLevel

Side = Literal["right", "left", "over"]

_ROW = 15.0  # the height of a row of words, in points
_CLEAR = 10.0  # between the lowest row and the highest point
_GAP = 5.0  # between a line and its own words
_APART = 10.0  # between words and a line that is not theirs


@dataclass(frozen=True)
class LevelLabel:
    """The words of one finding in their place: from `start` to `end`, in points from the left.

    Row 0 is the highest. The line at `x` ends in the middle of the row, or below words that stand
    `over` it.
    """

    finding: NamedLevel
    x: float
    start: float
    end: float
    row: int
    side: Side


LOOKS = {
    "peak": (theme.BLUE, (0, (1, 2))),
    "knee": (theme.INK, (0, (2, 3))),
    "capacity": (theme.PURPLE, (0, (7, 3))),
}
_DISLIKE = {"right": 0.0, "left": 0.3, "over": 0.6}


def arrange(ax: Axes, findings: Sequence[NamedLevel]) -> tuple[LevelLabel, ...]:
    """Return the best arrangement of the words; the axis of levels must have its limits."""
    if not findings:
        return ()
    right_edge = ax.get_window_extent().width * 72 / ax.figure.dpi
    places = [list(_places(ax, finding, len(findings))) for finding in findings]
    return min(product(*places), key=lambda flags: _cost(flags, right_edge))


def headroom(ax: Axes, flags: Sequence[LevelLabel], least: float) -> float:
    """Return how far above the highest value the axis must reach for the words, as a factor."""
    if not flags:
        return least
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    band = _ROW * (1 + max(flag.row for flag in flags)) + _CLEAR
    return max(least, 1 / (1 - min(0.6, band / height)))


def draw(ax: Axes, flags: Sequence[LevelLabel]) -> None:
    """Draw lines and words; findings at one level share the line of the highest words."""
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    for level in dict.fromkeys(flag.finding.level for flag in flags):
        top = min((f for f in flags if f.finding.level == level), key=lambda f: f.row)
        down = _ROW * (top.row + (1 if top.side == "over" else 0.5))
        colour, dash = LOOKS[top.finding.kind]
        ax.axvline(level, 0, 1 - down / height, color=colour, lw=1.2, ls=dash, zorder=1)
    for flag in flags:
        _write(ax, flag)


def _write(ax: Axes, flag: LevelLabel) -> None:
    ax.annotate(
        flag.finding.words,
        (0, 1),
        xycoords="axes fraction",
        xytext=(flag.start, -_ROW * (flag.row + 0.5)),
        textcoords="offset points",
        va="center",
        size=9,
        weight="bold",
        color=LOOKS[flag.finding.kind][0],
        zorder=6,
        bbox={"boxstyle": "square,pad=0.1", "fc": theme.PAPER, "ec": "none", "alpha": 0.85},
    )


def _places(ax: Axes, finding: NamedLevel, rows: int) -> Iterable[LevelLabel]:
    scale = 72 / ax.figure.dpi
    box = ax.get_window_extent()
    x = float((ax.transData.transform((finding.level, 0))[0] - box.x0) * scale)
    width = _width(ax, finding.words) * scale
    over = max(0.0, min(x - width / 2, box.width * scale - width))
    starts: dict[Side, float] = {"right": x + _GAP, "left": x - _GAP - width, "over": over}
    for row in range(rows):
        for side, start in starts.items():
            yield LevelLabel(finding, x, start, start + width, row, side)


def _width(ax: Axes, words: str) -> float:
    """Return the width of words in pixels, measured on a text that is not drawn."""
    made = Text(0, 0, words, size=9, weight="bold", figure=ax.figure)
    return float(made.get_window_extent().width)


def _cost(flags: Sequence[LevelLabel], right_edge: float) -> float:
    """Return how bad an arrangement is: cut or crossed words first, then height, then the side."""
    cost = sum(_DISLIKE[flag.side] + 0.1 * flag.row for flag in flags)
    cost += 3.0 * max(flag.row for flag in flags)
    # Beside its line by the gap: words of one level may hold to it in several rows.
    cost += 1000.0 * sum(flag.start < 0 or flag.end > right_edge for flag in flags)
    for one, other in ((a, b) for a in flags for b in flags if a is not b):
        if one.row == other.row and one.start < other.end + _GAP and other.start < one.end + _GAP:
            cost += 500.0
        cost += _crossing(one, other)
    return cost


def _crossing(words: LevelLabel, line: LevelLabel) -> float:
    """Return the cost of a line that runs through the words of another, or too near by them."""
    if line.row > words.row:  # it ends below
        return 0.0
    if line.x == words.x:
        return 500.0 if words.side == "over" else 0.0
    if words.start - 2 < line.x < words.end + 2:
        return 500.0
    near = words.start - _APART < line.x < words.end + _APART
    return 20.0 if near else 0.0
