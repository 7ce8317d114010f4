"""The look of every picture: colours, type, axes of concurrency, headline.

Series differ by marker, dash and direct label before they differ by colour; the colours are Okabe
and Ito's, told apart without colour vision. Sizes start at zero.
"""

from __future__ import annotations

import math
import textwrap
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from torr.results.position import ARRIVAL
from torr.units import show_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from torr.report.figures.labels import Labels
    from torr.results.position import Position

INK = "#1b1f24"
MUTED = "#5a626d"
GRID = "#dfe3e8"
PAPER = "#ffffff"
BLUE = "#0072b2"
ORANGE = "#d55e00"
GREEN = "#00795a"
PURPLE = "#a34f83"
GREY = "#8b939e"
BAND = "#9cc9e4"

DPI = 150

_STYLE: Any = {  # matplotlib's own type for it names every key there is
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "text.color": INK,
    "text.parse_math": False,  # names may contain dollar signs
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "ytick.major.size": 0,
    "hatch.linewidth": 0.7,
    "hatch.color": GREY,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "path.simplify": True,
}


@dataclass(frozen=True)
class Mark:
    """How one series is drawn, so that it is known without its colour."""

    colour: str
    marker: str
    dash: tuple[float, tuple[float, ...]]


FIRST = Mark(BLUE, "o", (0, ()))
SECOND = Mark(ORANGE, "s", (0, (5, 2)))
THIRD = Mark(ORANGE, "^", (0, (1, 1.5)))


@contextmanager
def style() -> Iterator[None]:
    """Draw and save inside: torr's look, whatever the user's matplotlibrc says."""
    with mpl.rc_context(), warnings.catch_warnings():
        # A name may hold signs that no installed font has: they show as boxes, which is enough.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches; it belongs to no window and no global."""
    return Figure(figsize=(width, height), dpi=DPI)


def headline(fig: Figure, title: str, subtitle: str) -> float:
    """Write the finding and what it is about; return the height they take, in inches."""
    width, height = (float(side) for side in fig.get_size_inches())
    large = min(13.0, 1.55 * width + 2)
    title_lines = textwrap.wrap(title, max(20, int(width * 120 / large)))
    small_lines = textwrap.wrap(subtitle, max(28, int(width * 14.4)))
    top = 0.14
    for line in title_lines:
        fig.text(0.12 / width, 1 - top / height, line, size=large, weight="bold", va="top")
        top += large * 1.32 / 72
    top += 0.03
    for line in small_lines:
        fig.text(0.12 / width, 1 - top / height, line, size=9, color=MUTED, va="top")
        top += 0.165
    return top + 0.12


def levels_axis(ax: Axes, levels: Sequence[Position], noun: str = "connection") -> None:
    """Put the measured levels on a logarithmic x axis, with as many labels as there is room for.

    `noun` is what they count.
    """
    ax.set_xscale("log")
    low, high = (min(levels), max(levels)) if levels else (1, 1)
    margin = (high / low) ** 0.05 if high > low else 1.6
    ax.set_xlim(low / margin, high * margin)
    ax.xaxis.set_major_locator(FixedLocator(levels))
    ax.xaxis.set_minor_locator(NullLocator())
    shown = _roomy(ax, levels)
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: short(x) if any(math.isclose(x, y) for y in shown) else "")
    )
    unit = "offered arrivals/s" if noun == ARRIVAL else f"{noun}s"
    ax.set_xlabel(f"{unit} (log scale)")


def from_zero(ax: Axes, highest: float, headroom: float = 1.12) -> None:
    """Let the y axis start at zero, end above `highest`, and write thousands."""
    ax.set_ylim(0, highest * headroom if highest > 0 else 1)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}" if y >= 10 else f"{y:g}"))


def time_axis(ax: Axes, values: Sequence[float]) -> str:
    """Start times at zero, or use a log scale where they span more than 20 ×; say so in words."""
    known = [value for value in values if value > 0]
    if not known or max(known) <= 20 * min(known):
        from_zero(ax, max(known, default=0), headroom=1.2)
        return ""
    ax.set_yscale("log")
    # Words stand in the uppermost 20 points: the curve ends below them however much it spans.
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    above = (max(known) / min(known) * 1.8) ** (20 / max(40.0, height - 20))
    ax.set_ylim(min(known) / 1.8, max(known) * max(1.8, above))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.10g}"))
    ax.yaxis.set_minor_locator(NullLocator())
    return " (log scale)"


def success_axis(ax: Axes) -> None:
    """Let the y axis hold success rates, with room above 100 % for words."""
    ax.set_ylim(0, 118)
    ax.set_yticks(range(0, 101, 20), [f"{y} %" for y in range(0, 101, 20)])
    ax.set_ylabel("success rate, % of attempts")


def success_label(
    labels: Labels, level: Position, percent: float | None, colour: str = INK
) -> None:
    """Write a success rate below 100 % beside its point."""
    if percent is not None and percent != 100:
        labels.put(show_percent(percent), (level, percent), size=8.5, color=colour)


def short(number: float) -> str:
    """Write a level briefly: `200`, `1k`, `2.5k`, `50k`."""
    if number >= 1_000_000:
        return f"{number / 1_000_000:g}M"
    return f"{number / 1000:g}k" if number >= 1000 else f"{number:g}"


def region(levels: Sequence[Position], level: Position) -> tuple[float, float]:
    """Return the x range that belongs to a level: halfway to its neighbours, on the log scale."""
    ordered = sorted(levels)
    at = ordered.index(level)
    low = math.sqrt(ordered[at - 1] * level) if at else level / 2
    high = math.sqrt(level * ordered[at + 1]) if at + 1 < len(ordered) else level * 2
    return low, high


def _roomy(ax: Axes, levels: Sequence[Position]) -> set[Position]:
    """Return the levels whose labels fit: ends first, then from below where nothing overlaps."""
    if len(levels) < 2:
        return set(levels)
    fig = ax.get_figure()
    inches = float(fig.get_size_inches()[0]) if isinstance(fig, Figure) else 8.0
    span = math.log(max(levels) / min(levels)) * 1.1
    per_unit = inches * ax.get_position().width / span
    shown = [min(levels), max(levels)]
    for level in sorted(levels)[1:-1]:
        # A digit of 10 points is about 0.08 inch wide; half of both labels and a gap must fit.
        if all(
            abs(math.log(level / other)) * per_unit
            > 0.04 * (len(short(level)) + len(short(other))) + 0.05
            for other in shown
        ):
            shown.append(level)
    return set(shown)
