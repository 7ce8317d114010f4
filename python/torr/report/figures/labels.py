"""Labels of points, put where they hide no point and no other label.

Every word is tried at several places around what it names, the nearest first; the best one is used.
Hiding a point or a word costs most; standing on a line, on hatching or nearer to another point
costs less. A word farther off gets a thin line to its point.

Axes must have their limits before: places are judged in pixels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from torr.report.figures import theme

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation
    from typing_extensions import Self

Shift = tuple[float, float]
Leader = tuple[Shift, Shift]

# Shifts in points; the sign also says which edge of the word is held: (5, 5) stands right above.
AROUND: tuple[Shift, ...] = (
    *((0, 7), (0, -7), (5, 5), (-5, 5), (5, -5), (-5, -5), (8, 0), (-8, 0)),
    *(
        (float(x), float(sign * y))
        for y in (20, 33, 46, 59, 72, 85, 98)
        for sign in (1, -1)
        for x in (0, 8, -8, 22, -22, 48, -48, 74, -74)
    ),
)
_FAR = 15.0
_BETWEEN = 4.0  # points between two words of one line
_ROUNDING = 1e-6  # pixels
_HIDES, _OUTSIDE, _CROSSES, _NEARER, _ON_HATCHING = 100.0, 1000.0, 4.0, 3.0, 2.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels; thousands are compared, for which those of matplotlib are slow."""

    x0: float
    y0: float
    x1: float
    y1: float

    @classmethod
    def of(cls, box: Bbox) -> Self:
        """Return a box of matplotlib as a rectangle."""
        return cls(box.xmin, box.ymin, box.xmax, box.ymax)

    @property
    def bbox(self) -> Bbox:
        """The rectangle as a box of matplotlib."""
        return Bbox.from_extents(self.x0, self.y0, self.x1, self.y1)

    def overlaps(self, other: Box) -> bool:
        """Return whether two rectangles share a spot."""
        return (
            self.x0 <= other.x1
            and other.x0 <= self.x1
            and self.y0 <= other.y1
            and other.y0 <= self.y1
        )

    def contains(self, x: float, y: float) -> bool:
        """Return whether a point lies in it, or on its edge."""
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def padded(self, width: float, height: float = 0.0) -> Box:
        """Return it with so much more at each side."""
        return Box(self.x0 - width, self.y0 - height, self.x1 + width, self.y1 + height)


class Labels:
    """The words of one set of axes, read once, here; they stay inside `within` (pixels)."""

    def __init__(self, ax: Axes, within: Bbox | None = None) -> None:
        self._ax = ax
        self._within = Box.of(within or ax.get_window_extent())
        self._points: list[Box] = list(_markers(ax))
        self._taken = list(self._points)
        self._lines: list[Path] = list(_paths(ax))
        self._hatched = [Box.of(p.get_window_extent()) for p in ax.patches if p.get_hatch()]

    def put(
        self,
        text: str,
        at: tuple[float, float],
        shifts: Sequence[Shift] = AROUND,
        *,
        leader: bool = True,
        **looks: Any,  # noqa: ANN401 - matplotlib's own
    ) -> Annotation:
        """Write `text` near `at` (data), at the best of `shifts`.

        The words of a line need no leader: they may stand anywhere along it.
        """
        made = self._ax.annotate(
            text,
            at,
            xytext=(0, 0),
            textcoords="offset points",
            annotation_clip=False,
            zorder=6,
            bbox={"boxstyle": "square,pad=0", "fc": theme.PAPER, "ec": "none"},
            **looks,
        )
        size = Text.get_window_extent(made)
        x, y = self._ax.transData.transform(at)
        point, scale = (float(x), float(y)), self._ax.figure.dpi / 72
        boxes = [_box(point, shift, (size.width, size.height), scale) for shift in shifts]
        best, least = 0, math.inf
        for rank, box in enumerate(boxes):
            nearness = rank / len(shifts)
            if nearness >= least:
                break
            leader_of = _leader(point, box) if leader else None
            cost = self._cost(box, leader_of, least - nearness) + nearness
            if cost < least:
                best, least = rank, cost
        made.set(position=shifts[best], ha=_ha(shifts[best]), va=_va(shifts[best]))
        self._taken.append(boxes[best].padded(_BETWEEN * scale))
        if leader and math.hypot(*shifts[best]) >= _FAR:
            self._lead(Path(_leader(point, boxes[best])))
        return made

    def _lead(self, leader: Path) -> None:
        """Draw a leader, under all words: where it cannot but pass one, the word is read."""
        self._lines.append(leader)
        ends = self._ax.transData.inverted().transform(leader.vertices)
        self._ax.plot(
            ends[:, 0],
            ends[:, 1],
            color=theme.GREY,
            linewidth=0.8,
            zorder=2.5,
            scalex=False,
            scaley=False,
            clip_on=False,
        )

    def _cost(self, box: Box, leader: Leader | None, limit: float) -> float:
        """Return what a place costs; from `limit` on, it may be less than that."""
        bounds = self._within
        inside = bounds.x0 <= box.x0 and box.x1 <= bounds.x1
        inside = inside and bounds.y0 <= box.y0 and box.y1 <= bounds.y1
        hidden = sum(box.overlaps(other) for other in self._taken)
        hatched = any(box.overlaps(other) for other in self._hatched)
        cost = _HIDES * hidden + _OUTSIDE * (not inside) + _ON_HATCHING * hatched
        if cost > limit:
            return cost
        bbox = box.bbox
        cost += _CROSSES * sum(line.intersects_bbox(bbox, filled=False) for line in self._lines)
        if leader is not None and cost <= limit:
            cost += _CROSSES * sum(_strikes(leader, other) for other in self._taken)
            own = _away(leader[0], box)
            cost += _NEARER * any(_away(_middle(other), box) < own for other in self._points)
        return cost


def _strikes(leader: Leader, other: Box) -> bool:
    """Return whether a leader crosses a word or point, other than the point that it starts at."""
    (x0, y0), (x1, y1) = leader
    around = Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)).padded(_ROUNDING, _ROUNDING)
    if not around.overlaps(other) or other.contains(x0, y0):
        return False
    return bool(Path(leader).intersects_bbox(other.bbox))


def _away(point: Shift, box: Box) -> float:
    """Return how far a point lies from the nearest spot of a box."""
    return math.dist(point, _nearest(point, box))


def _middle(box: Box) -> Shift:
    return (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2


def _markers(ax: Axes) -> Iterator[Box]:
    """Return a box around each marker, a little larger than it."""
    for line in ax.lines:
        if line.get_marker() in ("None", None, ""):
            continue
        half = (line.get_markersize() / 2 + 1) * ax.figure.dpi / 72
        for x, y in _pixels(line):
            if math.isfinite(x) and math.isfinite(y):
                yield Box(float(x - half), float(y - half), float(x + half), float(y + half))


def _paths(ax: Axes) -> Iterator[Path]:
    """Return everything that is drawn as a line: curves, limits, findings, and ranges."""
    for line in ax.lines:
        if line.get_linestyle() not in ("None", "none", "", " ") and len(_pixels(line)) > 1:
            yield Path(_pixels(line))
    for collection in ax.collections:
        for path in collection.get_paths():
            yield collection.get_transform().transform_path(path)


def _pixels(line: Line2D) -> Any:  # noqa: ANN401 - an array
    return line.get_transform().transform(line.get_xydata())


def _leader(point: Shift, box: Box) -> Leader:
    """Return the line from a point to the nearest spot of a word's box."""
    return point, _nearest(point, box)


def _nearest(point: Shift, box: Box) -> Shift:
    return min(max(point[0], box.x0), box.x1), min(max(point[1], box.y0), box.y1)


def _box(point: Shift, shift: Shift, size: Shift, scale: float) -> Box:
    """Return the box of a word whose edge is held `shift` points from a point."""
    starts = {"left": 0.0, "bottom": 0.0, "center": -0.5, "right": -1.0, "top": -1.0}
    x = point[0] + shift[0] * scale + starts[_ha(shift)] * size[0]
    y = point[1] + shift[1] * scale + starts[_va(shift)] * size[1]
    return Box(x, y, x + size[0], y + size[1])


def _ha(shift: Shift) -> str:
    return ("center", "left", "right")[(shift[0] > 0) - (shift[0] < 0)]


def _va(shift: Shift) -> str:
    return ("center", "bottom", "top")[(shift[1] > 0) - (shift[1] < 0)]
