"""SLOs as a table: the word of each level, or of each candidate in each cell, with its value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import chain, say
from torr.model.condition import Condition
from torr.report.data.comparison import Comparison
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.table import Table, TableBuilder
from torr.results.base import factors_key
from torr.stats.series import noun_of

if TYPE_CHECKING:
    from torr.results.base import Factors
    from torr.results.position import Position
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


def slos(result: RunResult) -> list[tuple[str, Verdict]]:
    """Return every SLO verdict of a comparison with its cell in words, in the order of cells."""
    if not result.slo_verdicts:
        return []
    comparison = Comparison.of(result)
    cells, names = comparison.cells, comparison.names
    ranks = {_key(cell.factors, cell.position): n for n, cell in enumerate(cells)}
    ranked = [(ranks.get(_key(v.factors, v.position), len(ranks)), v) for v in result.slo_verdicts]
    ranked.sort(key=lambda pair: (pair[0], names.index(pair[1].candidate or "")))
    return [
        (cells[rank].words if rank < len(cells) else _setting(verdict.factors), verdict)
        for rank, verdict in ranked
    ]


def of_levels(result: RunResult) -> Table | None:
    """Return a row a level and SLO; None where there is no SLO."""
    table = TableBuilder([("", verdict) for verdict in result.slo_verdicts])
    table.number(heading(noun_of(result.levels)), lambda row: f"{row[1].position:,}")
    return _with_words(table)


def of_comparison(result: RunResult) -> Table | None:
    """Return a row a cell, candidate and SLO; None where there is no SLO."""
    table = TableBuilder(slos(result))
    table.text(say("cell"), lambda row: row[0])
    table.text(say("candidate"), lambda row: row[1].candidate or "")
    return _with_words(table)


def interval_of(verdict: Verdict) -> str | None:
    """Return the interval of an SLO's value with its unit; None where none is known."""
    if verdict.interval is None:
        return None
    return " – ".join(map(Condition.parse(verdict.condition or "").show, verdict.interval))


def value_of(verdict: Verdict) -> str:
    """Return the value of an SLO with its unit; `–` where there is none."""
    value = verdict.value
    return "–" if value is None else Condition.parse(verdict.condition or "").show(value)


def _with_words(table: TableBuilder[tuple[str, Verdict]]) -> Table | None:
    table.text("SLO", lambda row: row[1].condition or "")
    table.number(say("value"), lambda row: value_of(row[1]))
    table.number(say("{share} interval", share="90 %"), lambda row: interval_of(row[1]) or "–")
    table.text(say("word"), lambda row: word_text(row[1].word or ""))
    table.text(say("reason"), lambda row: row[1].reason or "")
    return table.build()


def _key(factors: Factors, position: Position) -> tuple[str, Position]:
    return factors_key(factors), position


def _setting(factors: Factors) -> str:
    return chain(", ", [f"{name} {value}" for name, value in factors.items()])
