"""How times are spread: each value over the percentile it stands at, the slow end drawn wide.

A curve ends at the last percentile that its number of values carries. Nothing is smoothed: it is
read from the histogram of the whole level.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.transforms import Bbox

from torr.report import ladder_marks, theme
from torr.report.labels import AROUND, Labels
from torr.report.pooled import stats_of
from torr.report.streaming import is_joined
from torr.stats.histogram import Histogram, needed
from torr.units import show_ms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torr.model.condition import Condition

Level = Mapping[str, Any]

_TITLES = {"ttft": "ttft: first text, ms", "inter_chunk": "inter_chunk: gaps, ms"}
_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
_STEPS = 200
_MARGIN = 0.3  # inches
# A curve that only rises leaves room below on the right and above on the left.
_BESIDE = ((5, -5), (-5, 5), *AROUND)


def streams(
    level: Level, slos: Sequence[Condition], width: float = 10, height: float = 3.2
) -> Figure | None:
    """Return the spread of a level's first texts and of the gaps between texts, beside each other.

    On a narrow page they stand one above the other, each `height` high. None where neither has
    enough values for a median.
    """
    counts = [stats_of(level, metric).get("n") or 0 for metric in _TITLES]
    if max(counts) < needed(0.5) or not level.get("histograms"):
        return None
    columns = 2 if width > 6 else 1
    fig = theme.figure(width, height * (3 - columns))
    grid = {
        "left": 0.85 / width,
        "right": 1 - _MARGIN / width,
        "top": 1 - 0.35 / fig.get_figheight(),
    }
    grid |= {"bottom": 0.6 / fig.get_figheight(), "wspace": 0.25, "hspace": 0.5}
    axes = fig.subplots(3 - columns, columns, gridspec_kw=grid)
    for ax, metric in zip(axes, _TITLES, strict=True):
        _spread(ax, level, metric, [slo for slo in slos if slo.metric == metric and not slo.name])
    return fig


def _spread(ax: Axes, level: Level, metric: str, slos: list[Condition]) -> None:
    """Draw one kind of time, or say that it has too few values."""
    histogram = Histogram.read(level["histograms"][metric]) if _has(level, metric) else Histogram()
    n = histogram.total()
    if not histogram.carries(0.5):
        _say_too_few(ax, n)
        ax.set_title(_TITLES[metric], size=10, weight="bold")
        return
    values = _curve(ax, histogram)
    limits = ladder_marks.limit_lines(ax, [s for s in slos if s.limit <= 3 * max(values)])
    scale = theme.time_axis(ax, [*values, *(slo.limit for slo in limits)])
    ax.set_title(f"{_TITLES[metric]}{scale}", size=10, weight="bold")
    ax.set_xlabel(f"percentile of {n:,} values{_doubt(level, metric)}")
    points = _points(ax, metric, histogram)
    # The last percentile stands near the edge: its number may go beyond it.
    box = ax.get_window_extent()
    labels = Labels(ax, Bbox.from_extents(box.x0, box.y0, box.x1 + _MARGIN * ax.figure.dpi, box.y1))
    for x, y, text in points:
        if y > 0 or not scale:
            labels.put(text, (x, y), _BESIDE, size=8.5)
    ladder_marks.name_limits(labels, ax, limits)


def _has(level: Level, metric: str) -> bool:
    return bool((level.get("histograms") or {}).get(metric))


def _curve(ax: Axes, histogram: Histogram) -> list[float]:
    """Draw the curve up to the last percentile that is carried; return its values."""
    end = _place(1 - 10 / histogram.total())
    places = [end * step / _STEPS for step in range(_STEPS + 1)]
    values = histogram.ranks([1 - 10**-place for place in places])
    ax.plot(places, values, color=theme.BLUE, linewidth=1.8, solid_joinstyle="round")
    ax.set_xlim(0, end * 1.02)
    return values


def _points(ax: Axes, metric: str, histogram: Histogram) -> list[tuple[float, float, str]]:
    """Mark the percentiles that are carried; return the place and the words of each."""
    shown = {name: share for name, share in _SHARES.items() if histogram.carries(share)}
    xs, ys = [_place(share) for share in shown.values()], histogram.ranks(shown.values())
    ax.set_xticks(xs, list(shown))
    (line,) = ax.plot(xs, ys, "o", color=theme.BLUE, markersize=5.5, clip_on=False, zorder=4)
    words = [show_ms(y) for y in ys]
    tips = [f"{metric} {name}: {text}" for name, text in zip(shown, words, strict=True)]
    line.set_gid("tips:" + "|".join(tips))
    return list(zip(xs, ys, words, strict=True))


def _place(share: float) -> float:
    """Where a percentile stands: each tenth of what is left is as wide as the one before."""
    return -math.log10(1 - share)


def _doubt(level: Level, metric: str) -> str:
    return ", unreliable" if metric == "inter_chunk" and is_joined(level) else ""


def _say_too_few(ax: Axes, n: int) -> None:
    words = f"{n:,} of the {needed(0.5)} values that a median needs"
    ax.annotate(words, (0.5, 0.5), xycoords="axes fraction", ha="center", color=theme.MUTED)
    ax.set_xticks([])
    ax.set_yticks([])
