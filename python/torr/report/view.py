"""What the page shows of a result: words, tables and what its charts are drawn from, as JSON.

Everything is judged and said before; nothing here has a number that result.json does not bear out.
The page draws slices itself, as it does while a run goes on. Texts are plain strings or
`{"en": …, "zh": …}`; whoever shows them takes them as text.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from torr.report import (
    distributions,
    flames,
    sentence,
    trust,
    view_comparison,
    view_diff,
    view_ladder,
    view_lists,
    view_micro,
    view_tables,
)
from torr.report.pooled import pooled
from torr.report.say import as_json, say

Json = dict[str, Any]
Result = Mapping[str, Any]

MOST_SLICES = 1_000
MOST_DRAWN = 10_000

_POOLED = ("ttft", "response")
# What web/src/model.ts reads of a slice.
_DRAWN = (
    *("t_s", "seconds", "phase", "counts", "ok_per_s", "attempted_per_s", "connections_open"),
    "concurrency",
)
_COUNTED = ("seconds", "phase", "ok_per_s", "concurrency")
_TIMES = ("response_ms", "service_ms")
_STATS = ("n", "mean", "min", "max", "p50", "p95", "p99")
_STREAMED = ("tokens_per_s", "tokens_out", "ttft_ms")


def run(result: Result, pools: Sequence[Json | None] | None = None) -> Json:
    """Return what a page is given of a run: `result` without histograms of slices, and its view.

    `pools` are those of the levels, where they are known: then no slice needs a histogram.
    """
    return {"result": without_histograms(result), "view": view(result, pools)}


def view(result: Result, pools: Sequence[Json | None] | None = None) -> Json:
    """Return the view of a result of any kind, complete or not.

    `sentence` and `trust` come first; `tables`, `lists` and `blocks` are in the order of the page,
    those that are `folded` last. `ladder`, `comparison`, `diff` and `functions` are null but for
    their kind. `pooled` has the percentiles of slices of streams, by the place of their level.
    """
    return {
        "sentence": as_json(sentence.verdict(result)),
        "trust": {"health": trust.health(result), "text": as_json(trust.trust(result))},
        "command": shlex.join(result.get("command") or []),
        "tables": view_tables.tables(result),
        "lists": [*view_lists.lists(result), *_left_out(result)],
        "blocks": view_lists.blocks(result),
        "slos": view_ladder.slos(result),
        "distributions": distributions.of(result),
        "ladder": view_ladder.ladder(result),
        "comparison": view_comparison.comparison(result),
        "diff": view_diff.diff(result),
        "functions": view_micro.functions(result),
        "pooled": _pooled(result, pools),
        "flames": flames.flames(result),
    }


def without_histograms(result: Result) -> Json:
    """Return a result whose slices have no histograms; slices.jsonl keeps them.

    Of more than MOST_SLICES they have but what charts are drawn from, and levels have no histograms
    either: a comparison of a hundred trials would be a page that no mail takes. Of more than
    MOST_DRAWN none is left.
    """
    levels = result.get("levels") or ()
    count = slices_of(result)
    is_long = count > MOST_SLICES
    of = drawn if is_long else bare
    left_out: Json = {"histograms": {}} if is_long else {}
    return {
        **result,
        "levels": [
            {
                **level,
                "slices": [] if count > MOST_DRAWN else list(map(of, level.get("slices") or ())),
                **left_out,
            }
            for level in levels
        ],
    }


def slices_of(result: Result) -> int:
    """Return how many slices all levels have."""
    return sum(len(level.get("slices") or ()) for level in result.get("levels") or ())


def bare(piece: Mapping[str, Any]) -> Json:
    """Return a slice as the page draws it: without its histograms."""
    return {key: value for key, value in piece.items() if key != "histograms"}


def drawn(piece: Mapping[str, Any]) -> Json:
    """Return what a chart shows of a slice."""
    found = {key: piece[key] for key in _DRAWN if key in piece}
    latency, stream = piece.get("latency") or {}, piece.get("stream") or {}
    if latency:
        found["latency"] = {key: _thin(latency[key]) for key in _TIMES if latency.get(key)}
    if stream:
        found["stream"] = {key: stream[key] for key in _STREAMED if key in stream}
    return found


def counted(piece: Mapping[str, Any]) -> Json:
    """Return what words and verdicts are made of, of a slice that no page shows."""
    found = {key: piece[key] for key in _COUNTED if key in piece}
    times = (piece.get("latency") or {}).get("response_ms") or {}
    return {**found, "latency": {"response_ms": {"p95": times.get("p95")}}}


def _thin(stats: Mapping[str, Any]) -> Json:
    return {key: stats[key] for key in _STATS if key in stats}


def _left_out(result: Result) -> list[Json]:
    count = slices_of(result)
    if count <= MOST_DRAWN:
        return []
    said = say("{n:,} slices, too many for a page, are in slices.jsonl", n=count)
    return [view_lists.listed(say("What this page leaves out"), [said])]


def pools_of(level: Mapping[str, Any]) -> Json | None:
    """Return percentiles of neighbouring slices; None of a level without streams.

    Single slices have too few streams for any.
    """
    if not level.get("stream") or not level.get("slices"):
        return None
    return {name: pooled(level["slices"], name) for name in _POOLED}


def _pooled(result: Result, pools: Sequence[Json | None] | None) -> Json:
    known = map(pools_of, result.get("levels") or ()) if pools is None else pools
    return {str(at): found for at, found in enumerate(known) if found is not None}
