"""The choice of the next level by the levels so far: `--levels auto`.

First it climbs, doubling, until two levels in a row bring no more throughput, the SLO breaks, or
the end is reached; growth counts from 5 % (a plateau reaches 95 % of the peak) or from twice the
noise of the levels compared, whichever is more. Then it refines: the widest gap beside the knee, or
between the last level that holds the SLO and the first that breaks it, is halved in proportion, so
that chosen levels lie at most 2 x apart.

Pure functions of the points, in the order of measuring. Levels limited by the generator, and those
whose users starved, count as no growth and claim nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from torr.stats.standard_error import standard_error
from torr.verdicts.slo import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition
    from torr.results.level import Level

GROWTH = 0.05
MOST_TOLERANCE = 0.5
FINEST_RATIO = 1.25


@dataclass(frozen=True, slots=True)
class Point:
    """The measured facts of one level.

    `noise` is the relative standard error of ok_per_s; `breaks_slo` whether an SLO is broken.
    """

    concurrency: int
    ok_per_s: float
    mean_service_ms: float | None = None
    noise: float = 0.0
    claims_nothing: bool = False
    breaks_slo: bool = False

    @property
    def power(self) -> float:
        """Throughput over mean service time (Kleinrock): its maximum is the knee."""
        return self.ok_per_s / self.mean_service_ms if self.mean_service_ms else 0.0


@dataclass(frozen=True, slots=True)
class Search:
    """The first and the highest level of doubling, and the number of levels for refining."""

    start: int = 1
    most: int = 50_000
    refinements: int = 6


def next_concurrency(points: Sequence[Point], search: Search) -> int | None:
    """Return the level to measure next, None if no further level is needed."""
    climbed = _climb(points, search)
    if len(climbed) == len(points) and not has_topped_out(points, search):
        return min(points[-1].concurrency * 2, search.most) if points else search.start
    if len(points) - len(climbed) >= search.refinements:
        return None
    gaps = [gap for gap in (*_knee_gaps(points), *_slo_gap(points)) if _middle(gap) is not None]
    return _middle(max(gaps, key=_ratio)) if gaps else None


def has_topped_out(points: Sequence[Point], search: Search) -> bool:
    """Return whether higher levels would add no information."""
    if not points:
        return False
    last = points[-1]
    return last.concurrency >= search.most or last.breaks_slo or _has_stopped_growing(points)


def point_of(level: Level, rates: Sequence[float] = (), slos: Sequence[Condition] = ()) -> Point:
    """Return the point of a level; its noise is that of the rates of its intervals."""
    return Point(
        concurrency=level.concurrency,
        ok_per_s=level.ok_per_s,
        mean_service_ms=level.latency.service.mean,
        noise=relative_error(rates),
        claims_nothing=level.is_limited or level.is_starved,
        breaks_slo=any(judge(slo, level).word == "broken" for slo in slos),
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


def _knee_gaps(points: Sequence[Point]) -> list[tuple[int, int]]:
    healthy = sorted((p for p in points if not p.claims_nothing), key=lambda p: p.concurrency)
    if not healthy:
        return []
    knee = max(range(len(healthy)), key=lambda i: healthy[i].power)
    around = healthy[max(0, knee - 1) : knee + 2]
    return [(a.concurrency, b.concurrency) for a, b in pairwise(around)]


def _slo_gap(points: Sequence[Point]) -> list[tuple[int, int]]:
    """Return the gap between the last level up to which the SLOs hold and the first broken one."""
    held = 0
    for point in sorted((p for p in points if not p.claims_nothing), key=lambda p: p.concurrency):
        if point.breaks_slo:
            return [(held, point.concurrency)] if held else []
        held = point.concurrency
    return []


def _middle(gap: tuple[int, int]) -> int | None:
    """Return the geometric middle of a gap, None if the gap is narrow enough."""
    low, high = gap
    middle = round(math.sqrt(low * high))
    return middle if _ratio(gap) > FINEST_RATIO and low < middle < high else None


def _ratio(gap: tuple[int, int]) -> float:
    return gap[1] / gap[0]
