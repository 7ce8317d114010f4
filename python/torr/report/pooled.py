"""Percentiles over time of what is seldom: neighbouring slices are pooled until they carry one.

Streams last long, so that a slice of a second holds a handful of them, too few for any percentile.
Their histograms add up: each percentile has pools of its own, as short as it allows, and every
slice shows what its pool says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from torr.stats.histogram import Histogram, needed

Slice = Mapping[str, Any]

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def pooled(slices: Sequence[Slice], metric: str) -> list[dict[str, Any]]:
    """Return the percentiles of each slice's pools, with the slice's own `min` and `max`."""
    own = [stats_of(piece, metric) for piece in slices]
    made: list[dict[str, Any]] = [{key: s.get(key) for key in ("min", "max")} for s in own]

    @cache
    def read(at: int) -> Histogram:
        text = (slices[at].get("histograms") or {}).get(metric)
        return Histogram.read(text) if text else Histogram()

    for stat, share in _SHARES.items():
        for pool in _pools([s.get("n") or 0 for s in own], needed(share)):
            first = pool[0]
            alone = own[first].get(stat) if len(pool) == 1 else None
            value = alone or Histogram.sum(map(read, pool)).at(share)
            for at in pool:
                made[at][stat] = value
    return made


def stats_of(piece: Slice, metric: str) -> Mapping[str, Any]:
    """Return a slice's or level's numbers of a time, whether only streams have it or not."""
    key = f"{metric}_ms"
    found = (piece.get("stream") or {}).get(key) or (piece.get("latency") or {}).get(key)
    return found or {}


def _pools(counts: Sequence[int], wanted: int) -> list[list[int]]:
    """Neighbours that together hold as many as are wanted; what is left joins the last."""
    pools: list[list[int]] = []
    current: list[int] = []
    held = 0
    for at, count in enumerate(counts):
        current.append(at)
        held += count
        if held >= wanted:
            pools.append(current)
            current, held = [], 0
    if current and pools:
        pools[-1] += current
    return pools
