"""Sentences about functions under load: how budgets stand, and how far to trust the numbers."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Final

from torr.messages.say import Text, chain, join, say, say_count
from torr.report.data.function_names import names
from torr.report.data.function_rounds import failed, groups, spread
from torr.stats.metric import Metric
from torr.units import show_percent, show_rate, show_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.results.functions import FunctionTiming
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


KIND: Final = "micro"


_MOST_NAMED = 3


def verdict(result: RunResult) -> Text:
    """Say how many functions were measured, and how their budgets stand."""
    parts = [
        _measured(result),
        *_of_budgets(result),
        *_of_leaks(result),
        *_of_limits(result),
    ]
    return say("{said}.", said=chain("; ", parts))


def trust(result: RunResult) -> Text:
    """Say what the numbers stand on: rounds, their spread, errors, the machine's speed."""
    rounds_of = groups(result)
    rounds = sorted({len(levels) for _, levels in rounds_of})
    spreads = [s for _, levels in rounds_of if (s := spread(levels)) is not None]
    speed = result.machine_speed
    failing = sum(any(map(failed, levels)) for _, levels in rounds_of)
    parts = [
        say("rounds of each: {n}", n=join([f"{n:,}" for n in rounds])) if rounds else "",
        say("spread of rounds up to {spread}", spread=show_percent(100 * max(spreads)))
        if spreads
        else "",
        say_count(failing, "{n:,} function raised errors", "{n:,} functions raised errors")
        if failing
        else "",
        say("speed of this machine {speed}", speed=f"{speed.median:.2f}") if speed else "",
        _timing_cost(result),
        collector(result),
    ]
    return say("{said}.", said=chain(" · ", parts))


def collector(result: RunResult) -> str:
    """Say whether Python's collector ran in rounds; nothing where that is not known."""
    words = [timing.gc for timing in _timings(result)]
    off, on = sum(word.startswith("off") for word in words), words.count("on")
    if off and on:
        counts = {"on": f"{on:,}", "off": f"{off:,}"}
        return say(
            "Python's garbage collector on in rounds of {on} of the functions, off in"
            " those of {off}",
            **counts,
        )
    if off:
        return say("Python's garbage collector off in rounds")
    return say("Python's garbage collector on in rounds") if on else ""


def _timings(result: RunResult) -> list[FunctionTiming]:
    """Return how each function was timed, as its first round has it."""
    return [timing for _, levels in groups(result) if (timing := levels[0].micro) is not None]


def _timing_cost(result: RunResult) -> str:
    """Return the cost of timing itself; nothing where another tool timed."""
    timings = [timing for timing in _timings(result) if timing.clock_ns]
    if not timings:
        return ""
    clock = median(timing.clock_ns for timing in timings)
    parts = [say("subtracted from every time: {clock:.0f} ns for the clock", clock=clock)]
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
            say("{name}: {budget}", name=name_of(v), budget=v.condition or "")
            for v in missed[:_MOST_NAMED]
        ]
        more = len(missed) - len(named)
        if more:
            named.append(say("{n} more", n=more))
        parts.append(say("{n} missed ({names})", n=len(missed), names=join(named)))
    if "not shown" in words:
        parts.append(say("{n} not shown", n=words.count("not shown")))
    return parts


def _of_limits(result: RunResult) -> list[Text]:
    failed = [limit for limit in result.fail_if if limit.word == "broken"]
    if not failed:
        return []
    name_of = names(result)
    named = join([f"{name_of(limit)}: {limit.condition}" for limit in failed[:_MOST_NAMED]])
    return [say("beyond its limit: {names}", names=named)]


def word_of(budget: Verdict) -> Text:
    """Return whether a budget is met, in one word."""
    words = {"held": say("met"), "broken": say("missed")}
    return words.get(budget.word or "", say("not shown"))


def shown(metric: str) -> Callable[[float | None], str]:
    """Return what writes numbers of a metric for people."""
    if Metric(metric).is_time:
        return show_time
    return show_rate if Metric(metric).is_rate else show_percent


def _of_leaks(result: RunResult) -> list[Text]:
    """Say of which functions growth goes on, and which left more objects than they may."""
    name_of = names(result)
    missed = [leak for leak in result.leaks if not leak.met]
    endless = [name_of(leak) for leak in missed if leak.limit is None]
    beyond = [
        say(
            "{name}: {growth} objects, not {limit}",
            name=name_of(leak),
            growth=f"{leak.growth:+,}",
            limit=f"{leak.limit:+,}",
        )
        for leak in missed
        if leak.limit is not None
    ]
    parts = []
    if endless:
        parts.append(say("growth that goes on in {names}", names=_named(endless)))
    if beyond:
        parts.append(say("more objects than max_growth allows ({names})", names=_named(beyond)))
    return parts


def _named(names_: Sequence[str]) -> str:
    more = len(names_) - _MOST_NAMED
    return join([*names_[:_MOST_NAMED], *([say("{n} more", n=more)] if more > 0 else [])])
