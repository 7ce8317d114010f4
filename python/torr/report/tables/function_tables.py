"""Tables of functions under load: budgets, comparisons with baselines, and rounds.

Times are those of operations, from nanoseconds up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.function_names import NameOf, names, parts_of, shortened
from torr.report.data.function_rounds import failed, groups, spread
from torr.report.data.result_words import word_text
from torr.report.tables import leak_table
from torr.report.tables.table import Table, TableBuilder, median_of
from torr.report.text import verdict_words
from torr.report.text.comparison_words import DIGITS, interval, ratio
from torr.report.text.functions import shown, word_of
from torr.stats.metric import OK_PER_S, Metric
from torr.units import show_percent, show_rate, show_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


def titled_tables(result: RunResult) -> Iterator[tuple[str, Table | None]]:
    """Return every table of functions with its title, the budgets first."""
    yield say("Budgets"), budgets(result)
    yield say("Compared with others"), changes(result)
    yield say("Functions"), functions(result)
    yield say("Memory that was not freed"), leak_table.table(result)


def tables(result: RunResult) -> list[Table]:
    """Return every table of functions that has rows, the budgets first."""
    return [table for _, table in titled_tables(result) if table]


def budgets(result: RunResult) -> Table | None:
    """Return one row a budget: target, what was measured, its interval, and the word."""
    return budget_table(result.budgets, names(result))


def budget_table(budgets: Sequence[Verdict], name_of: NameOf) -> Table | None:
    """Return one row for each of some budgets."""
    table = TableBuilder(budgets)
    table.text(say("function"), name_of, breaks=True)
    table.text(say("budget"), _target)
    table.number(say("measured"), lambda budget: shown(budget.metric)(budget.value))
    table.number(say("{share} interval", share="90 %"), _interval)
    table.text(say("verdict"), _word)
    return table.build()


def functions(result: RunResult) -> Table | None:
    """Return one row a function: medians of its rounds."""
    table = TableBuilder(groups(result))
    table.text(say("function"), lambda row: row[0], breaks=True)
    table.number(say("threads"), lambda row: f"{row[1][0].concurrency}")
    table.number(say("rounds"), lambda row: f"{len(row[1])}")
    table.number(say("operations/s"), lambda row: show_rate(_median(row[1], OK_PER_S)))
    table.number(say("spread"), lambda row: _spread(row[1]))
    table.number("p50", lambda row: _time(row[1], "response_ms.p50"))
    table.number("p99", lambda row: _time(row[1], "response_ms.p99"))
    table.number(say("errors"), lambda row: f"{sum(map(failed, row[1])):,}")
    return table.build()


def changes(result: RunResult) -> Table | None:
    """Return one row a comparison, by operations a second."""
    short = shortened(parts_of(result))
    table = TableBuilder(verdict for verdict in result.verdicts if verdict.family == "primary")
    table.text(say("function"), names(result), breaks=True)
    table.text(say("compared with"), lambda verdict: short(verdict.baseline or ""))
    table.number(say("change"), lambda verdict: ratio(verdict, DIGITS))
    table.number(say("{share} interval", share="95 %"), lambda verdict: interval(verdict, DIGITS))
    table.number("n", lambda verdict: f"{verdict.n}")
    table.text(say("word"), lambda verdict: word_text(verdict_words.printed(verdict)))
    table.text(say("why"), lambda verdict: verdict.reason or "")
    return table.build()


def _target(budget: Verdict) -> str:
    target = budget.condition or ""
    if budget.scaled_by is None:
        return target
    return say("{budget}, here {limit}", budget=target, limit=shown(budget.metric)(budget.limit))


def _interval(budget: Verdict) -> str:
    low, high = budget.interval or (None, None)
    show = shown(budget.metric)
    return "–" if low is None else f"{show(low)} – {show(high)}"


def _word(budget: Verdict) -> str:
    word = word_of(budget)
    return say("{word}: {why}", word=word, why=budget.reason) if budget.reason else word


def _spread(levels: Sequence[Level]) -> str:
    variation = spread(levels)
    return show_percent(None if variation is None else 100 * variation)


def _time(levels: Sequence[Level], key: str) -> str:
    """Return a percentile; of operations in batches it is one of batches."""
    value = _median(levels, key)
    is_of_batches = levels[0].micro is not None and levels[0].micro.batch > 1
    if value is None or not is_of_batches:
        return show_time(value)
    return say("{time}, of batches", time=show_time(value))


def _median(levels: Sequence[Level], key: str) -> float | None:
    return median_of(map(Metric(key).read, levels))
