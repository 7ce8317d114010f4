"""The view of a result for the page: words, tables and the data of its charts, as JSON.

Everything is judged before; every number here follows from result.json. The page draws intervals
itself, as it does during a run. Texts are plain strings or `{"en": …, "zh": …}`, never HTML.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import msgspec

from torr.messages.say import as_json, say
from torr.report.data import stream_charts
from torr.report.data.pooled import pooled
from torr.report.data.tuning_comparison import as_comparison
from torr.report.tables import flame_table
from torr.report.text import sentence, trust
from torr.report.view import (
    distributions,
    view_comparison,
    view_functions,
    view_ladder,
    view_lists,
    view_tables,
    view_tuning,
)
from torr.results.base import Statistics, builtins
from torr.results.level import Interval, Latency

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.json import JsonObject
    from torr.results.level import Level
    from torr.results.result import RunResult


MOST_INTERVALS = 1_000
MOST_DRAWN = 10_000

# What web/src/model.ts reads of an interval.
_DRAWN = (
    *("t_s", "seconds", "phase", "counts", "ok_per_s", "attempted_per_s", "connections_open"),
    "concurrency",
)
_TIMES = ("response_ms", "service_ms")
_STATS = ("n", "mean", "min", "max", "p50", "p95", "p99")
_STREAMED = ("tokens_per_s", "tokens_out")


def run(result: RunResult, pools: Sequence[JsonObject | None] | None = None) -> JsonObject:
    """Return what a page is given of a run: `result` without histograms of intervals, and its view.

    `pools` are those of the levels, where they are known: then no interval needs a histogram.
    """
    return {"result": without_histograms(result), "view": view(result, pools)}


def view(result: RunResult, pools: Sequence[JsonObject | None] | None = None) -> JsonObject:
    """Return the view of a result of any kind, complete or not.

    `sentence` and `trust` come first; `tables`, `lists` and `blocks` are in the order of the page,
    those that are `folded` last. `ladder`, `comparison`, `search`, `diff` and `functions` are null
    but for their kind. `pooled` has the percentiles of intervals of streams, by the place of their
    level.
    """
    return {
        "sentence": as_json(sentence.verdict(result)),
        "trust": {"health": trust.health(result), "text": as_json(trust.trust(result))},
        "command": shlex.join(result.command),
        "tables": view_tables.tables(result),
        "lists": [*view_lists.lists(result), *_left_out(result)],
        "blocks": view_lists.blocks(result),
        "slos": view_ladder.slos(result),
        "distributions": distributions.of(result),
        "ladder": view_ladder.ladder(result),
        "comparison": _comparison(result),
        "search": view_tuning.search(result),
        "diff": view_ladder.diff(result),
        "functions": view_functions.functions(result),
        "pooled": _pooled(result, pools),
        "flames": flame_table.flames(result),
    }


def _comparison(result: RunResult) -> JsonObject | None:
    """Return the chart of candidates, or of the default and the finalists of a tuning."""
    compared = as_comparison(result) if result.kind == "tune" else result
    return view_comparison.comparison(compared)


def without_histograms(result: RunResult) -> JsonObject:
    """Return a result as JSON whose intervals have no histograms; intervals.jsonl keeps them.

    Of more than MOST_INTERVALS they have but what charts are drawn from, and levels have no
    histograms either: a comparison of a hundred trials would be a page that no mail takes. Of more
    than MOST_DRAWN none is left.
    """
    count = intervals_of(result)
    if count > MOST_DRAWN:
        levels = [msgspec.structs.replace(level, intervals=[]) for level in result.levels]
        result = msgspec.structs.replace(result, levels=levels)
    members: JsonObject = builtins(result)
    for level in members["levels"]:
        if count > MOST_INTERVALS:
            level["histograms"] = {}
            level["intervals"] = list(map(_drawn, level["intervals"]))
        for piece in level["intervals"]:
            piece.pop("histograms", None)
    return members


def intervals_of(result: RunResult) -> int:
    """Return how many intervals all levels have."""
    return sum(len(level.intervals) for level in result.levels)


def bare(piece: Interval) -> JsonObject:
    """Return an interval as the page draws it: without its histograms."""
    members: JsonObject = builtins(piece)
    del members["histograms"]
    return members


def light(piece: Interval, count: int) -> Interval:
    """Return what pages need of an interval of a level, where all levels have `count` intervals.

    Of intervals that no page shows, that is what words and verdicts are made of.
    """
    if count <= MOST_DRAWN:
        return msgspec.structs.replace(piece, histograms={})
    p95 = piece.latency.response.p95
    return Interval(
        t_s=piece.t_s,
        seconds=piece.seconds,
        phase=piece.phase,
        ok_per_s=piece.ok_per_s,
        concurrency=piece.concurrency,
        latency=Latency(response_ms=Statistics(n=piece.latency.response.n, p95=p95)),
    )


def _drawn(piece: JsonObject) -> JsonObject:
    """Return the members of an interval that a chart shows."""
    drawn = {key: piece[key] for key in (*_DRAWN, "nodes") if key in piece}
    latency, stream = piece["latency"], piece["stream"]
    drawn["latency"] = {key: _thin(latency[key]) for key in _TIMES if latency[key]}
    return {**drawn, "stream": {key: stream[key] for key in _STREAMED}} if stream else drawn


def _thin(stats: JsonObject) -> JsonObject:
    return {key: stats[key] for key in _STATS}


def _left_out(result: RunResult) -> list[JsonObject]:
    count = intervals_of(result)
    if count <= MOST_DRAWN:
        return []
    note = say("{n:,} intervals, too many for a page, are in intervals.jsonl", n=count)
    return [view_lists.listed(say("Omitted from this page"), [note])]


def pools_of(level: Level) -> JsonObject | None:
    """Return percentiles of neighbouring intervals; None of a level without streams.

    Single intervals have too few streams for any.
    """
    if not level.stream or not level.intervals:
        return None
    names = (*stream_charts.over_time(level), "response")
    return {name: pooled(level.intervals, name) for name in names}


def _pooled(result: RunResult, pools: Sequence[JsonObject | None] | None) -> JsonObject:
    known = map(pools_of, result.levels) if pools is None else pools
    return {str(at): found for at, found in enumerate(known) if found is not None}
