"""The choice of the next level by the levels so far: `--levels auto` and `--rates auto`.

First it climbs, doubling, until two levels in a row bring no more throughput, the SLO breaks, or
the end is reached; growth counts from 5 % (a plateau reaches 95 % of the peak) or from twice the
noise of the levels compared, whichever is more. Then it refines: the widest gap beside the knee, or
between the last level that holds the SLO and the first that breaks it, is halved in proportion, so
that chosen levels lie at most 2 x apart.

Rates have no knee. Climbing also ends at the first rate that the target does not keep up with, and
refining narrows the gap below it, or the one below the lowest level of the peak's plateau.

Pure functions of the points, in the order of measuring. Levels limited by the generator, and those
whose users starved, count as no growth and claim nothing else.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from torr.results.position import Position, position_of
from torr.stats.standard_error import standard_error
from torr.verdicts.slo import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition
    from torr.results.level import Level

    Gap = tuple[Position, Position]

GROWTH = 0.05
MOST_TOLERANCE = 0.5
MOST_LEVEL = 50_000
FINEST_RATIO = 1.25
FINEST_RATIO_OF_RATES = 1.1
PLATEAU = 0.95
MOST_TRIES = 2
"""How often a level for refining is measured if it claims nothing."""
_RATE_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Point:
    """The measured facts of one level.

    `noise` is the relative standard error of ok_per_s; `breaks_slo` whether an SLO is broken,
    `falls_behind` whether the target did not keep up with a rate, `starves` whether some users
    got no response.
    """

    position: Position
    ok_per_s: float
    mean_service_ms: float | None = None
    noise: float = 0.0
    claims_nothing: bool = False
    breaks_slo: bool = False
    falls_behind: bool = False
    starves: bool = False

    @property
    def is_over(self) -> bool:
        """Whether it is above the capacity."""
        return self.breaks_slo or self.falls_behind

    @property
    def power(self) -> float:
        """Throughput over mean service time (Kleinrock): its maximum is the knee."""
        return self.ok_per_s / self.mean_service_ms if self.mean_service_ms else 0.0


@dataclass(frozen=True, slots=True)
class Search:
    """The first and the highest level of doubling, and the number of levels for refining.

    `finest` is the ratio of two levels between which no further one is needed.
    """

    start: Position = 1
    most: Position = MOST_LEVEL
    refinements: int = 6
    finest: float = FINEST_RATIO
    is_of_rates: bool = False


def next_position(points: Sequence[Point], search: Search) -> Position | None:
    """Return the level to measure next, None if no further level is needed."""
    climbed = _climb(points, search)
    if len(climbed) == len(points) and not has_topped_out(points, search):
        return min(points[-1].position * 2, search.most) if points else search.start
    if len(points) - len(climbed) >= search.refinements:
        return None
    middles = {gap: _middle(gap, search) for gap in _gaps(points, search)}
    tried = Counter(point.position for point in points[len(climbed) :])
    # A middle that was measured is still one if its level claims nothing.
    gaps = [gap for gap, at in middles.items() if at is not None and tried[at] < MOST_TRIES]
    return middles[max(gaps, key=_ratio)] if gaps else None


def has_topped_out(points: Sequence[Point], search: Search) -> bool:
    """Return whether higher levels would add no information."""
    if not points:
        return False
    last = points[-1]
    return last.position >= search.most or last.is_over or _has_stopped_growing(points)


def point_of(level: Level, rates: Sequence[float] = (), slos: Sequence[Condition] = ()) -> Point:
    """Return the point of a level; its noise is that of the rates of its intervals."""
    return Point(
        position=level.position,
        ok_per_s=level.ok_per_s,
        mean_service_ms=level.latency.service.mean,
        noise=relative_error(rates),
        claims_nothing=level.is_limited or level.is_of_fewer_users,
        breaks_slo=any(judge(slo, level).word == "broken" for slo in slos),
        falls_behind=level.falls_behind is True,
        starves=level.is_of_fewer_users,
    )


def relative_error(rates: Sequence[float]) -> float:
    """Return the standard error of the mean of intervals, over that mean; 0 if fewer than 3.

    The error takes the correlation of consecutive intervals into account.
    """
    if len(rates) < 3 or fmean(rates) <= 0:
        return 0.0
    return standard_error(rates) / fmean(rates)


def _climb(points: Sequence[Point], search: Search) -> Sequence[Point]:
    """Return the points up to the one at which climbing ended."""
    for count in range(1, len(points)):
        if has_topped_out(points[:count], search):
            return points[:count]
    return points


def _has_stopped_growing(points: Sequence[Point]) -> bool:
    """Return whether neither of the last two points exceeds the best before them."""
    tail = points[-2:]
    if len(tail) == 2 and all(point.claims_nothing for point in tail):
        return True
    before = [point for point in points[:-2] if not point.claims_nothing]
    if not before:
        return False
    best = max(before, key=lambda point: point.ok_per_s)
    return not any(_grows(best, point) for point in tail)


def _grows(best: Point, point: Point) -> bool:
    """Return whether a point exceeds the best so far by more than noise."""
    noise = math.hypot(best.noise, point.noise)
    tolerance = min(max(GROWTH, 2 * noise), MOST_TOLERANCE)
    return not point.claims_nothing and point.ok_per_s > best.ok_per_s * (1 + tolerance)


def _gaps(points: Sequence[Point], search: Search) -> list[Gap]:
    """Return the gaps to refine."""
    if not search.is_of_rates:
        return [*_knee_gaps(points), *_capacity_gap(points)]
    return _capacity_gap(points) or _plateau_gap(points)


def _plateau_gap(points: Sequence[Point]) -> list[Gap]:
    """Return the gap below the lowest level whose ok/s is that of the peak."""
    if any(p.is_over for p in points if not p.claims_nothing):
        return []
    healthy = _ascending(points)
    peak = max((p.ok_per_s for p in healthy), default=0.0)
    onset = next((i for i, p in enumerate(healthy) if p.ok_per_s >= PLATEAU * peak), 0)
    return [(healthy[onset - 1].position, healthy[onset].position)] if onset else []


def _ascending(points: Sequence[Point]) -> list[Point]:
    """Return the points that claim something, in ascending order."""
    return sorted((p for p in points if not p.claims_nothing), key=lambda p: p.position)


def _knee_gaps(points: Sequence[Point]) -> list[Gap]:
    healthy = _ascending(points)
    if not healthy:
        return []
    knee = max(range(len(healthy)), key=lambda i: healthy[i].power)
    around = healthy[max(0, knee - 1) : knee + 2]
    return [(a.position, b.position) for a, b in pairwise(around)]


def _capacity_gap(points: Sequence[Point]) -> list[Gap]:
    """Return the gap between the last level up to which all hold and the first above capacity."""
    held: Position = 0
    known = [point for point in points if point.starves or not point.claims_nothing]
    for point in sorted(known, key=lambda p: p.position):
        if point.is_over or point.starves:
            return [(held, point.position)] if held else []
        held = point.position
    return []


def _middle(gap: Gap, search: Search) -> Position | None:
    """Return the geometric middle of a gap, None if the gap is narrow enough."""
    low, high = gap
    middle = _rounded(math.sqrt(low * high), search)
    return middle if _ratio(gap) > search.finest and low < middle < high else None


def _rounded(number: float, search: Search) -> Position:
    """Return a whole number of users, or a rate of three digits."""
    if not search.is_of_rates:
        return round(number)
    return position_of(None, float(f"{number:.{_RATE_DIGITS}g}"))


def _ratio(gap: Gap) -> float:
    return gap[1] / gap[0]
