"""SLOs of a comparison: the word of each candidate in each cell, with what was seen of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from torr.messages.say import chain, say
from torr.model.condition import Condition
from torr.report.data.comparison import Comparison
from torr.report.data.result_words import word_text
from torr.report.tables.cells import Table

if TYPE_CHECKING:
    from torr.report.data.comparison import ComparisonCell
    from torr.results.base import Factors
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


def slos(result: RunResult) -> list[tuple[str, Verdict]]:
    """Return every verdict of an SLO with its cell in words, in the order of the cells."""
    found = [verdict for verdict in result.verdicts if verdict.condition]
    if not found:
        return []
    comparison = Comparison.of(result)
    places, names = comparison.places, comparison.names
    at = {_key(place.factors, place.concurrency): n for n, place in enumerate(places)}
    ranked = [(at.get(_key(v.factors, v.concurrency), len(at)), v) for v in found]
    ranked.sort(key=lambda each: (each[0], names.index(each[1].candidate or "")))
    return [(_words(places, rank, verdict), verdict) for rank, verdict in ranked]


def of_slos(result: RunResult) -> Table | None:
    """Return a row a cell, candidate and SLO; None where there is no SLO."""
    rows = tuple(
        (
            place,
            verdict.candidate or "",
            verdict.condition or "",
            _seen(verdict),
            interval_of(verdict) or "–",
            word_text(verdict.word or ""),
            verdict.reason or "",
        )
        for place, verdict in slos(result)
    )
    columns = (
        *(say("cell"), say("candidate"), "SLO", say("value")),
        *(say("{share} interval", share="90 %"), say("word"), say("reason")),
    )
    return Table(columns, rows, frozenset({0, 1, 2, 5, 6})) if rows else None


def interval_of(verdict: Verdict) -> str | None:
    """Return the interval of an SLO's value with its unit; None where none is known."""
    if verdict.interval is None:
        return None
    show = Condition.parse(verdict.condition or "").show
    return " – ".join(map(show, verdict.interval))


def _key(factors: Factors, concurrency: int | None) -> tuple[str, int]:
    return json.dumps(factors, sort_keys=True), concurrency or 0


def _words(places: tuple[ComparisonCell, ...], rank: int, verdict: Verdict) -> str:
    if rank < len(places):
        return places[rank].words
    return chain(", ", [f"{name} {value}" for name, value in verdict.factors.items()])


def _seen(verdict: Verdict) -> str:
    value = verdict.value
    return "–" if value is None else Condition.parse(verdict.condition or "").show(value)
