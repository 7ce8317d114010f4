"""The picture of functions under load: a row a budget, every round a dot, interval and limit drawn.

Left of the limit a budget is met. Words differ by the shape of their marker before they differ by
colour. Without budgets rows are functions by their operations a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from torr.report import theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.report.micro_rows import Picture, Row

_ROW, _TICKS, _BELOW, _WORDS, _LEGEND = 0.27, 0.26, 0.42, 0.26, 0.28  # inches
_AMOUNT = 0.75
"""Inches right of the rows, where the numbers stand."""
_LETTER = 0.072
_MOST_LETTERS = 52
_TICK = 0.5
"""Inches that a tick's words need."""
_LOOKS = {
    "held": (theme.GREEN, "^"),
    "broken": (theme.ORANGE, "v"),
    "not shown": (theme.MUTED, "o"),
    "": (theme.BLUE, "s"),
}
_SAID = {"held": "met", "broken": "missed", "not shown": "cannot be told", "": "median"}
_GOLDEN = 0.618
_SPREAD = 0.44
"""The height of a row over which its dots are scattered, so that they do not hide each other."""


def panels(found: Picture, width: float = 10, titles: tuple[str, str] | None = None) -> Figure:
    """Return all rows on one axis.

    `titles` are the finding and what it is about, for a picture that stands alone.
    """
    fig = theme.figure(width, 3)
    top = theme.headline(fig, *titles) if titles else 0.06
    words = _WORDS if found.is_of_budgets else 0.08
    rows = _ROW * len(found.rows)
    whole = top + _LEGEND + words + rows + _TICKS + _BELOW
    fig = theme.figure(width, whole)
    if titles:
        theme.headline(fig, *titles)
    _legend(fig, found, 1 - top / whole)
    names = [_name(row, width) for row in found.rows]
    left = 0.25 + max(map(len, names)) * _LETTER
    across = width - left - _AMOUNT
    box = (left / width, (_TICKS + _BELOW) / whole, across / width, rows / whole)
    ax = fig.add_axes(box)
    _dress(ax, found, names, across)
    for at, row in enumerate(found.rows):
        _draw(ax, at, row, found)
    fig.text(
        (left + across / 2) / width,
        0.1 / whole,
        _axis_words(found, width),
        ha="center",
        size=9,
        color=theme.MUTED,
    )
    return fig


def _dress(ax: Axes, found: Picture, names: list[str], inches: float) -> None:
    """The axis, the names, and the line that a budget is met left of."""
    count = len(names)
    low, high = found.limits
    ax.set_xlim(low, high)
    ax.set_ylim(count - 0.5, -0.5)
    ticks: list[tuple[float, str]] = []
    for mark in found.marks():
        if all(abs(mark[0] - at) >= (high - low) * _TICK / inches for at, _ in ticks):
            ticks.append(mark)
    ax.set_xticks([at for at, _ in ticks], [words for _, words in ticks])
    ax.tick_params(axis="x", labelsize=8, pad=1, length=2)
    ax.set_yticks(range(count), names, size=8.5)
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    if not found.is_of_budgets:
        return
    ax.axvline(0, color=theme.MUTED, linewidth=1.2, zorder=1)
    for words, side, offset in (("← met", "right", -5), ("missed →", "left", 5)):
        ax.annotate(
            words,
            (0, 1),
            xycoords=("data", "axes fraction"),
            xytext=(offset, 4),
            textcoords="offset points",
            ha=side,
            size=8.5,
            color=theme.MUTED,
            annotation_clip=False,
        )


def _draw(ax: Axes, at: int, row: Row, found: Picture) -> None:
    """One row: its rounds, its interval, its estimate, and the number right of it."""
    _dots(ax, at, row, found)
    _estimate(ax, at, row, found)
    ax.annotate(
        "" if row.amount == "–" else row.amount,
        (1, at),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        size=8.5,
        color=_LOOKS[row.standing][0],
        annotation_clip=False,
    )


def _dots(ax: Axes, at: int, row: Row, found: Picture) -> None:
    """Every round as a dot; one beyond the axis as an arrow at its edge."""
    low, high = found.limits
    for marker, some in (
        (".", [x for x in row.rounds if low <= x.at <= high]),
        ("<", [x for x in row.rounds if x.at < low]),
        (">", [x for x in row.rounds if x.at > high]),
    ):
        if not some:
            continue
        (line,) = ax.plot(
            [found.shown(x.at) for x in some],
            [at + _SPREAD * ((x.number * _GOLDEN) % 1 - 0.5) for x in some],
            linestyle="none",
            marker=marker,
            markersize=5.5,
            markeredgewidth=0,
            color=_LOOKS[row.standing][0],
            alpha=0.5,
            zorder=2,
            clip_on=False,
        )
        tips = (f"{row.name}, round {x.number}: {x.text}".replace("|", "¦") for x in some)
        line.set_gid("tips:" + "|".join(tips))


def _estimate(ax: Axes, at: int, row: Row, found: Picture) -> None:
    """The estimate as the marker of its word, on its interval; the word alone without one."""
    colour = _LOOKS[row.standing][0]
    if row.interval is not None:
        ends = [found.shown(end) for end in row.interval]
        ax.plot(ends, [at, at], color=colour, linewidth=2.2, zorder=3, solid_capstyle="butt")
    if row.centre is not None:
        marks = {**_marker(row.standing), "zorder": 4, "clip_on": False}
        ax.plot([found.shown(row.centre)], [at], **marks)
        return
    ax.annotate(
        _SAID[row.standing] if row.standing else "",
        (0.02, at),
        xycoords=("axes fraction", "data"),
        va="center",
        size=8.5,
        color=theme.MUTED,
    )


def _legend(fig: Figure, found: Picture, top: float) -> None:
    """What markers mean, in a line that begins at `top` of the figure."""
    standings = ("held", "broken", "not shown") if found.is_of_budgets else ("",)
    dot = Line2D([], [], linestyle="none", marker=".", markersize=5, color=theme.MUTED, alpha=0.6)
    shown = [dot, *(Line2D([], [], **_marker(standing)) for standing in standings)]
    fig.legend(
        shown,
        ["one round", *(_SAID[standing] for standing in standings)],
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


def _axis_words(found: Picture, width: float) -> str:
    more = f"; {found.left_out:,} more in the table" if found.left_out else ""
    if not found.is_of_budgets:
        return f"operations/s (log scale{more})"
    if width < 6:
        return f"how much of a budget is used (log scale{more})"
    use = "measured ÷ limit, of rates limit ÷ measured"
    return f"how much of a budget is used: {use} (log scale{more})"


def _name(row: Row, width: float) -> str:
    """The function and its budget; the end of a long name tells more than its beginning."""
    most = min(_MOST_LETTERS, int(width * 0.45 / _LETTER))
    text = " ".join(f"{row.name}  {row.budget}".split())
    return text if len(text) <= most else "…" + text[-(most - 1) :].lstrip()


def _marker(standing: str) -> dict[str, Any]:
    colour, marker = _LOOKS[standing]
    is_hollow = standing == "not shown"
    return {
        "linestyle": "none",
        "marker": marker,
        "markersize": 6.5,
        "color": colour,
        "markerfacecolor": theme.PAPER if is_hollow else colour,
        "markeredgecolor": colour if is_hollow else theme.PAPER,
        "markeredgewidth": 1.6 if is_hollow else 0.8,
    }
