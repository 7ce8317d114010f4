"""What people read of functions under load: a sentence, how far to trust it, and tables.

A budget is met, missed or cannot be told; times are those of operations, from nanoseconds up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from torr.report import verdict_table
from torr.report.cells import Table
from torr.report.say import Text, chain, join, say, say_count
from torr.report.told import told
from torr.stats.metric import OK_PER_S, Metric
from torr.stats.series import variation
from torr.stats.trials import by_cell
from torr.units import show_percent, show_rate, show_setting, show_time

Result = Mapping[str, Any]
Level = Mapping[str, Any]
Verdict = Mapping[str, Any]

KIND = "micro"
_NOTHING = "–"
_GOES_ON = "growth that goes on"
_MOST_NAMED = 3


def verdict(result: Result) -> Text:
    """Say how many functions were measured, and how their budgets stand."""
    parts = [_measured(result), *_of_budgets(result), *_of_leaks(result), *_of_limits(result)]
    return say("{said}.", said=chain("; ", parts))


def trust(result: Result) -> Text:
    """Say what the numbers stand on: rounds, their spread, errors, the machine's speed."""
    found = groups(result)
    rounds = sorted({len(levels) for _, levels in found})
    spreads = [s for _, levels in found if (s := _spread(levels)) is not None]
    speed = result.get("machine_speed") or {}
    failing = sum(any(map(_failed, levels)) for _, levels in found)
    parts = [
        say("rounds of each: {n}", n=join([f"{n:,}" for n in rounds])) if rounds else "",
        say("spread of rounds up to {spread}", spread=show_percent(100 * max(spreads)))
        if spreads
        else "",
        say_count(failing, "{n:,} function raised errors", "{n:,} functions raised errors")
        if failing
        else "",
        say("speed of this machine {speed}", speed=f"{speed['median']:.2f}") if speed else "",
    ]
    return say("{said}.", said=chain(" · ", parts))


def tables(result: Result) -> Iterator[Table]:
    """Return every table that has something to say, the budgets first."""
    for of in (budgets, changes, functions, leaks):
        found = of(result)
        if found is not None:
            yield found


def budgets(result: Result) -> Table | None:
    """Return one row a budget: target, what was measured, its interval, and the word."""
    found: Sequence[Verdict] = result.get("budgets") or ()
    if not found:
        return None
    columns = (
        *(say("function"), say("budget"), say("measured")),
        *(say("{share} interval", share="90 %"), say("verdict")),
    )
    return Table(columns, tuple(map(_budget, found)), frozenset({0, 1, 4}), frozenset({0}))


def functions(result: Result) -> Table | None:
    """Return one row a function: medians of its rounds."""
    rows = tuple(_function(name, levels) for name, levels in groups(result))
    columns = (
        *(say("function"), say("threads"), say("rounds"), say("operations/s"), say("spread")),
        *("p50", "p99", say("errors")),
    )
    return Table(columns, rows, frozenset({0}), frozenset({0})) if rows else None


def leaks(result: Result) -> Table | None:
    """Return one row a function that was watched for what it leaves behind."""
    found: Sequence[Verdict] = result.get("leaks") or ()
    rows = tuple(
        (
            name_of(each),
            f"{each['count']:,}",
            f"{each['growth']:+,}",
            f"{each['per_operation']:.2g}",
            told(each["word"]),
            ", ".join(f"{count:+,} {kind}" for kind, count in each["types"][:3] if count > 0),
        )
        for each in found
    )
    columns = (
        *(say("function"), say("operations"), say("objects"), say("blocks an operation")),
        *(say("verdict"), say("most of them")),
    )
    return Table(columns, rows, frozenset({0, 4, 5}), frozenset({0})) if rows else None


def changes(result: Result) -> Table | None:
    """Return one row a comparison, by operations a second."""
    found = [v for v in result.get("verdicts") or () if v.get("family") == "primary"]
    rows = tuple(
        (
            name_of(each),
            each["baseline"],
            verdict_table.show_change(each),
            verdict_table.show_interval(each),
            f"{each['n']}",
            told(verdict_table.printed(each)),
            told(each["reason"] or ""),
        )
        for each in found
    )
    columns = (
        *(say("function"), say("beside"), say("change"), say("{share} interval", share="95 %")),
        *("n", say("word"), say("why")),
    )
    return Table(columns, rows, frozenset({0, 1, 5, 6}), frozenset({0})) if rows else None


def _measured(result: Result) -> Text:
    count = len(groups(result)) + len(result.get("leaks") or ())
    return say_count(count, "{n:,} function measured", "{n:,} functions measured")


def _of_budgets(result: Result) -> list[Text]:
    found: Sequence[Verdict] = result.get("budgets") or ()
    if not found:
        return []
    words = [each["word"] for each in found]
    missed = [each for each in found if each["word"] == "broken"]
    parts = [say("{n} of {all} budgets met", n=words.count("held"), all=len(words))]
    if missed:
        named = [
            say("{name}: {budget}", name=name_of(v), budget=v["text"]) for v in missed[:_MOST_NAMED]
        ]
        more = len(missed) - len(named)
        if more:
            named.append(say("{n} more", n=more))
        parts.append(say("{n} missed ({names})", n=len(missed), names=join(named)))
    if "not shown" in words:
        parts.append(say("{n} cannot be told", n=words.count("not shown")))
    return parts


def _of_leaks(result: Result) -> list[Text]:
    growing = [each for each in result.get("leaks") or () if each["word"] == _GOES_ON]
    if not growing:
        return []
    names = join([name_of(each) for each in growing[:_MOST_NAMED]])
    return [say("growth that goes on in {names}", names=names)]


def _of_limits(result: Result) -> list[Text]:
    failed = [each for each in result.get("fail_if") or () if each["word"] == "failed"]
    if not failed:
        return []
    names = join([f"{name_of(each)}: {each['condition']}" for each in failed[:_MOST_NAMED]])
    return [say("surely beyond its limit: {names}", names=names)]


def groups(result: Result) -> list[tuple[str, list[Level]]]:
    """Return the rounds of each function, under its name and parameters."""
    found: dict[str, list[Level]] = {}
    for cell, rounds in by_cell(result.get("levels") or ()).items():
        for trials in rounds.values():
            for name, level in trials.items():
                key = name_of({"candidate": name, "factors": cell.factors})
                found.setdefault(key, []).append(level)
    return list(found.items())


def name_of(each: Mapping[str, Any]) -> str:
    """Return a function as people know it: its file and test, and its parameters."""
    short = str(each["candidate"]).rpartition("/")[2]
    setting = show_setting(each.get("factors") or {})
    return f"{short} [{setting}]" if setting else short


def word_of(each: Verdict) -> Text:
    """Return whether a budget is met, in one word."""
    words = {"held": say("met"), "broken": say("missed")}
    return words.get(each["word"], say("cannot be told"))


def shown(metric: str) -> Callable[[float | None], str]:
    """Return what writes numbers of a metric for people."""
    if Metric(metric).is_time:
        return show_time
    return show_rate if Metric(metric).is_rate else show_percent


def _function(name: str, levels: Sequence[Level]) -> tuple[str, ...]:
    spread = _spread(levels)
    batch = (levels[0].get("micro") or {}).get("batch", 1)
    return (
        name,
        f"{levels[0]['concurrency']}",
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


def _budget(each: Verdict) -> tuple[str, ...]:
    show = shown(each["metric"])
    low, high = each["interval"] or (None, None)
    target = each["text"]
    if each["scaled_by"] is not None:
        target = say("{budget}, here {limit}", budget=target, limit=show(each["limit"]))
    word = word_of(each)
    if each["reason"]:
        word = say("{word}: {why}", word=word, why=told(each["reason"]))
    return (
        name_of(each),
        target,
        show(each["value"]),
        _NOTHING if low is None else f"{show(low)} – {show(high)}",
        word,
    )


def _median(levels: Sequence[Level], key: str) -> float | None:
    known = [x for x in map(Metric(key).read, levels) if x is not None]
    return median(known) if known else None


def _spread(levels: Sequence[Level]) -> float | None:
    return variation([level["ok_per_s"] for level in levels])


def _failed(level: Level) -> int:
    return int(level["counts"]["attempted"] - level["counts"]["ok"])
