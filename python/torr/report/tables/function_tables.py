"""What people read of functions under load: a sentence, how far to trust it, and tables.

A budget is met, missed or cannot be told; times are those of operations, from nanoseconds up.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.function_names import Named, names, parts_of, shortened
from torr.report.data.function_rounds import failed, groups, spread
from torr.report.data.result_words import word_text
from torr.report.tables import leak_table
from torr.report.tables.cells import Table
from torr.report.text import verdict_words
from torr.report.text.functions import shown, word_of
from torr.stats.metric import OK_PER_S, Metric
from torr.units import show_percent, show_rate, show_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict

_NOTHING = "–"


def tables(result: RunResult) -> Iterator[Table]:
    """Return every table that has something to say, the budgets first."""
    for of in (budgets, changes, functions, leak_table.table):
        found = of(result)
        if found is not None:
            yield found


def budgets(result: RunResult) -> Table | None:
    """Return one row a budget: target, what was measured, its interval, and the word."""
    return budget_table(result.budgets, names(result))


def budget_table(budgets: Sequence[Verdict], name_of: Named) -> Table | None:
    """Return one row for each of some budgets."""
    columns = (
        *(say("function"), say("budget"), say("measured")),
        *(say("{share} interval", share="90 %"), say("verdict")),
    )
    rows = tuple((name_of(budget), *_budget(budget)) for budget in budgets)
    return Table(columns, rows, frozenset({0, 1, 4}), frozenset({0})) if rows else None


def functions(result: RunResult) -> Table | None:
    """Return one row a function: medians of its rounds."""
    rows = tuple(_function(name, levels) for name, levels in groups(result))
    columns = (
        *(say("function"), say("threads"), say("rounds"), say("operations/s"), say("spread")),
        *("p50", "p99", say("errors")),
    )
    return Table(columns, rows, frozenset({0}), frozenset({0})) if rows else None


def changes(result: RunResult) -> Table | None:
    """Return one row a comparison, by operations a second."""
    found = [verdict for verdict in result.verdicts if verdict.family == "primary"]
    name_of, short = names(result), shortened(parts_of(result))
    rows = tuple(
        (
            name_of(each),
            short(each.baseline or ""),
            verdict_words.show_change(each),
            verdict_words.show_interval(each),
            f"{each.n}",
            word_text(verdict_words.printed(each)),
            each.reason or "",
        )
        for each in found
    )
    columns = (
        *(say("function"), say("beside"), say("change"), say("{share} interval", share="95 %")),
        *("n", say("word"), say("why")),
    )
    return Table(columns, rows, frozenset({0, 1, 5, 6}), frozenset({0})) if rows else None


def _function(name: str, levels: Sequence[Level]) -> tuple[str, ...]:
    variation = spread(levels)
    batch = levels[0].micro.batch if levels[0].micro else 1
    return (
        name,
        f"{levels[0].concurrency}",
        f"{len(levels)}",
        show_rate(_median(levels, OK_PER_S)),
        _NOTHING if variation is None else show_percent(100 * variation),
        *(_time(levels, key, batch) for key in ("response_ms.p50", "response_ms.p99")),
        f"{sum(map(failed, levels)):,}",
    )


def _time(levels: Sequence[Level], key: str, batch: int) -> str:
    """A percentile; of operations in batches it is one of batches."""
    found = show_time(_median(levels, key))
    return say("{time}, of batches", time=found) if batch > 1 and found != _NOTHING else found


def _budget(budget: Verdict) -> tuple[str, ...]:
    show = shown(budget.metric)
    low, high = budget.interval or (None, None)
    target = budget.condition or ""
    if budget.scaled_by is not None:
        target = say("{budget}, here {limit}", budget=target, limit=show(budget.limit))
    word = word_of(budget)
    if budget.reason:
        word = say("{word}: {why}", word=word, why=budget.reason)
    return (
        target,
        show(budget.value),
        _NOTHING if low is None else f"{show(low)} – {show(high)}",
        word,
    )


def _median(levels: Sequence[Level], key: str) -> float | None:
    known = [x for x in map(Metric(key).read, levels) if x is not None]
    return median(known) if known else None
