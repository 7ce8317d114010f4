"""The page's chart of a comparison: cells, candidates, every round a dot.

Positions are those of `comparison_scale`: logarithms of ratios, or percentage points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import as_json, chain, say
from torr.report.data.comparison import Comparison
from torr.report.data.comparison_scale import Scale, centre, ends
from torr.report.data.result_words import word_text
from torr.report.text import comparison_words as words

if TYPE_CHECKING:
    from torr.model.json import JsonObject
    from torr.report.data.comparison import CandidateCell, ComparisonCell
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


def comparison(result: RunResult) -> JsonObject | None:
    """Return every cell with its candidates, on one scale; None where there is nothing to draw.

    `marks` are ticks of the axis in the order in which room is to be found for them.
    """
    if result.kind != "compare":
        return None
    ordered = Comparison.of(result)
    scale = Scale.of(ordered)
    if scale is None:
        return None
    return {
        "metric": as_json(word_text(ordered.primary.label)),
        "is_share": scale.is_share,
        "is_speed": ordered.primary.is_time or ordered.primary.is_rate,
        "baseline": as_json(ordered.baseline),
        "limits": scale.limits,
        "margin": scale.margin,
        "marks": scale.marks(),
        "places": [
            _place(cell, scale)
            for cell in ordered.cells
            if any(entry.trials or entry.failures for entry in cell.entries)
        ],
    }


def _place(cell: ComparisonCell, scale: Scale) -> JsonObject:
    entries = [_entry(cell, entry, scale) for entry in cell.entries]
    return {"words": as_json(cell.words), "entries": entries}


def _entry(cell: ComparisonCell, entry: CandidateCell, scale: Scale) -> JsonObject:
    verdict = cell.verdict(entry)
    is_base = entry.name == cell.baseline
    standing = cell.standing(entry)
    span, middle = ends(verdict, scale), centre(verdict, scale)
    kind = entry.failures[0].kind if standing == "failed" else None
    return {
        "name": as_json(entry.name),
        "is_baseline": is_base,
        "standing": standing,
        "word": as_json(word_text(cell.printed(entry))),
        "failure": None if kind is None else as_json(word_text(kind.replace("_", " "))),
        "centre": None if middle is None else scale.shown(middle),
        "interval": None if span is None else [scale.shown(end) for end in span],
        "amount": "" if is_base else _amount(verdict),
        "ratio": "" if is_base else as_json(words.ratio(verdict)),
        "interval_text": as_json(words.interval(verdict)),
        "n": len(entry.trials) if verdict.n is None else verdict.n,
        "rounds": [_round(cell, entry, scale, point) for point in scale.rounds(cell, entry)],
    }


def _round(
    cell: ComparisonCell, entry: CandidateCell, scale: Scale, round_: tuple[int, float]
) -> JsonObject:
    number, position = round_
    metric = cell.primary
    value = words.value(metric, entry.values(metric)[number])
    texts: list[str] = [say("{value} {metric}", value=value, metric=word_text(metric.label))]
    pair = cell.pairs(entry, metric).get(number)
    if pair and entry.name != cell.baseline:
        texts.append(words.value(metric, pair[0]))
    return scale.point(number, position, chain(" : ", texts))


def _amount(verdict: Verdict) -> str:
    """Return the difference in the unit of the axis; empty where there is none."""
    if verdict.obstacle or verdict.difference is None:
        ratio = words.ratio(verdict)
        return "" if ratio == "–" else ratio
    return f"{verdict.difference:+.2f}"
