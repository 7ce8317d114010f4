"""Distributions of times over percentiles: curves for the page, read from histograms.

The rounds of a level, or of a candidate in a cell, are added up first, without those that claim
nothing. A curve ends at the last percentile that its number of values carries; nothing is smoothed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torr.messages.say import as_json
from torr.report.data import stream_charts
from torr.report.data.comparison import Comparison
from torr.report.data.function_rounds import groups
from torr.report.tables.table import usable
from torr.report.text.streaming import is_joined
from torr.stats.histogram import Histogram
from torr.stats.series import by_position

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.model.json import JsonObject
    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.verdicts.diff_side import Side


STEP = 0.05
"""How far points of a curve are apart: a percentile's cell is -log10(1 - share)."""

NAMED = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)
"""Percentiles that have a point of their own."""

_PLAIN = ("response", "service", "ttfb")
_COMPARED = ("response",)


def of(result: RunResult) -> list[JsonObject]:
    """Return the curves of a result: metric, name, n and points of (share, milliseconds).

    `name` is what the curve is of: nothing for a single level, else its level or candidate and
    cell. `of_streams` tells times of streams from those of whole responses. Without histograms, as
    in a diff, there are none.
    """
    return [curve for name, levels in _groups(result) for curve in _curves(name, levels)]


def of_sides(sides: Sequence[Side]) -> list[JsonObject]:
    """Return the curves of the sides of a diff at each level that all of them have."""
    levels = [by_position(side.trials) for side in sides]
    return [
        curve
        for position in levels[0]
        if all(position in own for own in levels)
        for side, own in zip(sides, levels, strict=True)
        for curve in _curves(
            {"candidate": side.name, "cell": None, "level": position}, usable(own[position])
        )
    ]


def _groups(result: RunResult) -> Iterator[tuple[JsonObject, Sequence[Level]]]:
    if result.kind == "compare":
        for cell in Comparison.of(result).cells:
            for entry in cell.entries:
                where = {"candidate": entry.name, "cell": as_json(cell.words), "level": None}
                yield where, list(entry.counted_trials.values())
        return
    if result.kind == "micro":
        for name, rounds in groups(result):
            yield {"candidate": name, "cell": name, "level": None}, rounds
        return
    for position, rounds in by_position(result.levels).items():
        yield {"candidate": None, "cell": None, "level": position}, usable(rounds)


def _curves(name: JsonObject, levels: Sequence[Level]) -> Iterator[JsonObject]:
    is_streamed = any(level.stream for level in levels)
    plain = _PLAIN if name["candidate"] is None else _COMPARED
    streamed = stream_charts.by_percentile(levels)
    for metric in (*streamed, "response") if is_streamed else plain:
        texts = [level.histograms.get(metric) for level in levels]
        histogram = Histogram.sum(Histogram.read(text) for text in texts if text)
        if not histogram.carries(0.5):
            continue
        is_doubtful = metric == "inter_chunk" and any(map(is_joined, levels))
        n = histogram.total()
        yield {
            **name,
            "metric": metric,
            "of_streams": metric in streamed,
            "n": n,
            "doubtful": is_doubtful,
            "points": _points(histogram),
        }


def _points(histogram: Histogram) -> list[tuple[float, float]]:
    """Return shares with their values, up to the highest percentile that has enough values.

    All curves have the same shares, so that they can be read at one cell.
    """
    end = -math.log10(10 / histogram.total())
    even = [1 - 10 ** -(STEP * at) for at in range(math.floor(end / STEP + 1e-9) + 1)]
    named = [share for share in NAMED if histogram.carries(share)]
    shares = sorted({round(share, 9) for share in (*even, *named)})
    values = histogram.ranks(shares)
    return [(share, round(value, 6)) for share, value in zip(shares, values, strict=True)]
