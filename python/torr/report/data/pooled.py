"""Percentiles over time of rare events: neighbouring intervals are pooled until there are enough.

Streams last long, so that an interval of a second holds a handful of them, too few for any
percentile. Their histograms add up: each percentile has pools of its own, as short as it allows,
and every interval shows what its pool says. No pool has intervals of two phases: what streams did
in the warm-up says nothing about the window.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from torr.results.base import Statistics
from torr.results.level import time_of
from torr.stats.histogram import Histogram, needed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.level import Interval

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def pooled(intervals: Sequence[Interval], metric: str) -> list[dict[str, float | None]]:
    """Return the percentiles of each interval's pools, with the interval's own `min` and `max`."""
    own = [time_of(piece, f"{metric}_ms") or Statistics(n=0) for piece in intervals]
    made: list[dict[str, float | None]] = [{"min": s.min, "max": s.max} for s in own]

    @cache
    def read(at: int) -> Histogram:
        text = intervals[at].histograms.get(metric)
        return Histogram.read(text) if text else Histogram()

    phases = groupby(range(len(intervals)), key=lambda at: intervals[at].phase)
    places = [list(group) for _, group in phases]
    for stat, share in _SHARES.items():
        pools = [
            pool for phase in places for pool in _pools(phase, [s.n for s in own], needed(share))
        ]
        for pool in pools:
            first = pool[0]
            alone = own[first].value(stat) if len(pool) == 1 else None
            value = alone or Histogram.sum(map(read, pool)).at(share)
            for at in pool:
                made[at][stat] = value
    return made


def _pools(places: Sequence[int], counts: Sequence[int], wanted: int) -> list[list[int]]:
    """Return neighbours that together hold as many as are wanted; the rest joins the last pool."""
    pools: list[list[int]] = []
    current: list[int] = []
    held = 0
    for at in places:
        current.append(at)
        held += counts[at]
        if held >= wanted:
            pools.append(current)
            current, held = [], 0
    if current and pools:
        pools[-1] += current
    return pools
