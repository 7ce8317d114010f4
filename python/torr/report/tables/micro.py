"""What people read of functions under load: a sentence, how far to trust it, and tables.

A budget is met, missed or cannot be told; times are those of operations, from nanoseconds up.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from torr.messages.say import Text, chain, join, say, say_count
from torr.messages.told import told
from torr.report.data.micro_names import Named, key_of, names, parts_of, shortened
from torr.report.tables import left_behind, verdict_table
from torr.report.tables.cells import Table
from torr.stats.metric import OK_PER_S, Metric
from torr.stats.series import variation
from torr.stats.trials import by_cell
from torr.units import show_percent, show_rate, show_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torr.results.functions import BudgetVerdict, FunctionTiming
    from torr.results.level import Level
    from torr.results.result import RunResult

KIND = "micro"
_NOTHING = "–"
_MOST_NAMED = 3


def verdict(result: RunResult) -> Text:
    """Say how many functions were measured, and how their budgets stand."""
    parts = [
        _measured(result),
        *_of_budgets(result),
        *left_behind.failed(result),
        *_of_limits(result),
    ]
    return say("{said}.", said=chain("; ", parts))


def trust(result: RunResult) -> Text:
    """Say what the numbers stand on: rounds, their spread, errors, the machine's speed."""
    found = groups(result)
    rounds = sorted({len(levels) for _, levels in found})
    spreads = [s for _, levels in found if (s := _spread(levels)) is not None]
    speed = result.machine_speed
    failing = sum(any(map(_failed, levels)) for _, levels in found)
    parts = [
        say("rounds of each: {n}", n=join([f"{n:,}" for n in rounds])) if rounds else "",
        say("spread of rounds up to {spread}", spread=show_percent(100 * max(spreads)))
        if spreads
        else "",
        say_count(failing, "{n:,} function raised errors", "{n:,} functions raised errors")
        if failing
        else "",
        say("speed of this machine {speed}", speed=f"{speed.median:.2f}") if speed else "",
        _taken_off(result),
        collector(result),
    ]
    return say("{said}.", said=chain(" · ", parts))


def collector(result: RunResult) -> str:
    """Say whether Python's collector ran in rounds; nothing where that is not known."""
    words = [timing.gc for timing in _timings(result)]
    off, on = sum(word.startswith("off") for word in words), words.count("on")
    if off and on:
        said = {"on": f"{on:,}", "off": f"{off:,}"}
        return say("Python's collector on in rounds of {on} of the functions, off of {off}", **said)
    if off:
        return say("Python's collector off in rounds")
    return say("Python's collector on in rounds") if on else ""


def tables(result: RunResult) -> Iterator[Table]:
    """Return every table that has something to say, the budgets first."""
    for of in (budgets, changes, functions, left_behind.table):
        found = of(result)
        if found is not None:
            yield found


def budgets(result: RunResult) -> Table | None:
    """Return one row a budget: target, what was measured, its interval, and the word."""
    return budget_table(result.budgets, names(result))


def budget_table(budgets: Sequence[BudgetVerdict], name_of: Named) -> Table | None:
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
            verdict_table.show_change(each),
            verdict_table.show_interval(each),
            f"{each.n}",
            told(verdict_table.printed(each)),
            told(each.reason or ""),
        )
        for each in found
    )
    columns = (
        *(say("function"), say("beside"), say("change"), say("{share} interval", share="95 %")),
        *("n", say("word"), say("why")),
    )
    return Table(columns, rows, frozenset({0, 1, 5, 6}), frozenset({0})) if rows else None


def _timings(result: RunResult) -> list[FunctionTiming]:
    """How each function was timed, as its first round has it."""
    return [timing for _, levels in groups(result) if (timing := levels[0].micro) is not None]


def _taken_off(result: RunResult) -> str:
    """What timing itself cost; nothing where other tools timed, which kept none of it."""
    timings = [timing for timing in _timings(result) if timing.clock_ns]
    if not timings:
        return ""
    clock = median(timing.clock_ns for timing in timings)
    parts = [say("taken off every time: {clock:.0f} ns for the clock", clock=clock)]
    if any(timing.batch > 1 for timing in timings):
        turn = median(timing.turn_ns for timing in timings)
        parts.append(say("{turn:.1f} ns a turn in batches", turn=turn))
    return chain(", ", parts)


def _measured(result: RunResult) -> Text:
    count = len(groups(result)) + len(result.leaks)
    return say_count(count, "{n:,} function measured", "{n:,} functions measured")


def _of_budgets(result: RunResult) -> list[Text]:
    if not result.budgets:
        return []
    name_of = names(result)
    words = [budget.word for budget in result.budgets]
    missed = [budget for budget in result.budgets if budget.word == "broken"]
    parts = [say("{n} of {all} budgets met", n=words.count("held"), all=len(words))]
    if missed:
        named = [
            say("{name}: {budget}", name=name_of(v), budget=v.text) for v in missed[:_MOST_NAMED]
        ]
        more = len(missed) - len(named)
        if more:
            named.append(say("{n} more", n=more))
        parts.append(say("{n} missed ({names})", n=len(missed), names=join(named)))
    if "not shown" in words:
        parts.append(say("{n} cannot be told", n=words.count("not shown")))
    return parts


def _of_limits(result: RunResult) -> list[Text]:
    failed = [limit for limit in result.fail_if if limit.word == "failed"]
    if not failed:
        return []
    name_of = names(result)
    named = join([f"{name_of(limit)}: {limit.condition}" for limit in failed[:_MOST_NAMED]])
    return [say("surely beyond its limit: {names}", names=named)]


def groups(result: RunResult) -> list[tuple[str, list[Level]]]:
    """Return the rounds of each function under each number of threads, by the name it has here."""
    found: dict[tuple[str, str, int], list[Level]] = {}
    for cell, rounds in by_cell(result.levels).items():
        for trials in rounds.values():
            for level in trials.values():
                found.setdefault((*key_of(level), cell.concurrency), []).append(level)
    name_of = names(result)
    return [(name_of(levels[0]), levels) for levels in found.values()]


def word_of(budget: BudgetVerdict) -> Text:
    """Return whether a budget is met, in one word."""
    words = {"held": say("met"), "broken": say("missed")}
    return words.get(budget.word, say("cannot be told"))


def shown(metric: str) -> Callable[[float | None], str]:
    """Return what writes numbers of a metric for people."""
    if Metric(metric).is_time:
        return show_time
    return show_rate if Metric(metric).is_rate else show_percent


def _function(name: str, levels: Sequence[Level]) -> tuple[str, ...]:
    spread = _spread(levels)
    batch = levels[0].micro.batch if levels[0].micro else 1
    return (
        name,
        f"{levels[0].concurrency}",
        f"{len(levels)}",
        show_rate(_median(levels, OK_PER_S)),
        _NOTHING if spread is None else show_percent(100 * spread),
        *(_time(levels, key, batch) for key in ("response_ms.p50", "response_ms.p99")),
        f"{sum(map(_failed, levels)):,}",
    )


def _time(levels: Sequence[Level], key: str, batch: int) -> str:
    """A percentile; of operations in batches it is one of batches."""
    found = show_time(_median(levels, key))
    return say("{time}, of batches", time=found) if batch > 1 and found != _NOTHING else found


def _budget(budget: BudgetVerdict) -> tuple[str, ...]:
    show = shown(budget.metric)
    low, high = budget.interval or (None, None)
    target = budget.text
    if budget.scaled_by is not None:
        target = say("{budget}, here {limit}", budget=target, limit=show(budget.limit))
    word = word_of(budget)
    if budget.reason:
        word = say("{word}: {why}", word=word, why=told(budget.reason))
    return (
        target,
        show(budget.value),
        _NOTHING if low is None else f"{show(low)} – {show(high)}",
        word,
    )


def _median(levels: Sequence[Level], key: str) -> float | None:
    known = [x for x in map(Metric(key).read, levels) if x is not None]
    return median(known) if known else None


def _spread(levels: Sequence[Level]) -> float | None:
    return variation([level.ok_per_s for level in levels])


def _failed(level: Level) -> int:
    return level.counts.attempted - level.counts.ok
