"""The verdict of a result in one sentence, and a sentence about failures.

The sentences can be pasted into a ticket. Nothing is judged here: `torr.verdicts` decides which
claims a result supports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.say import Text, chain, changed, say
from torr.report.data import diff
from torr.report.data.wording import because, places
from torr.report.text import (
    comparison_sentence,
    diff_sentence,
    functions,
    ladder_sentence,
    run_sentence,
    tuning_sentence,
)
from torr.stats.series import Series
from torr.units import show_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.position import Position
    from torr.results.result import RunResult


def verdict(result: RunResult) -> Text:
    """Return what the run found, as one sentence."""
    if result.kind == "diff":
        return diff_sentence.verdict(result)
    if result.kind == "compare":
        return comparison_sentence.verdict(result)
    if result.kind == "tune":
        return tuning_sentence.verdict(result)
    if result.kind == "micro":
        return functions.verdict(result)
    end = say("ended early by {what}", what=result.ended_by) if result.ended_by else ""
    return say("{said}.", said=chain("; ", [_found(result), end]))


def is_measured(result: RunResult) -> bool:
    """Return whether there is anything to say numbers of."""
    has_numbers = result.kind in {"diff", "micro"} or bool(result.failures)
    return has_numbers or any(level.counts.attempted for level in result.levels)


def success(result: RunResult) -> Text:
    """Return what a ladder, or each side of a diff, found about failures, as one sentence."""
    if result.kind == "diff":
        sides = diff.sides(result)
        clauses = [say("{name}: {said}", name=side.name, said=_failures(side)) for side in sides]
        return say("{said}.", said=chain("; ", clauses))
    clause = _failures(Series.of(result.name, result.levels))
    return say("{said}.", said=changed(clause, lambda text: text[0].upper() + text[1:]))


def _found(result: RunResult) -> str:
    if not is_measured(result):
        return _of_events(result) or say("Nothing was measured{why}", why=because(_failure(result)))
    if result.kind == "ladder":
        return ladder_sentence.verdict(result)
    return run_sentence.verdict(result)


def _of_events(result: RunResult) -> str | None:
    """Return the verdict of a run whose locustfile reported nothing but events."""
    events = sum(level.event_count for level in result.levels)
    if not events or all(level.is_limited for level in result.levels):
        return run_sentence.verdict(result) if events else None
    none = say("No request was sent by torr's clients")
    told_of = say("the locustfile itself reported {events}", events=counted(events, "event"))
    return chain("; ", [none, told_of])


def _failures(series: Series) -> Text:
    rates = [(p.success_rate, p.position) for p in series.points if p.success_rate is not None]
    hung = [p.position for p in series.points if p.success_rate is None]
    more = say("none was answered at {place}", place=places(series, *hung)) if hung else ""
    if not rates:
        return chain("; ", [say("no attempt ended at a level that claims anything"), more])
    return chain("; ", [_worst(rates, series), more])


def _worst(rates: Sequence[tuple[float, Position]], series: Series) -> Text:
    """Return the largest share of failures and its level, with the levels below that had none."""
    worst, where = min(rates)
    if worst == 100:
        last = places(series, rates[-1][1])
        if len(rates) == 1:
            return say("no request failed, {place}", place=last)
        return say("no request failed, {first:,} to {last}", first=rates[0][1], last=last)
    share = show_percent(100 - worst)
    failed = say("{share} failed at {place}", share=share, place=places(series, where))
    first = next(place for place, (rate, _) in enumerate(rates) if rate < 100)
    if not first:
        return failed
    return say(
        "no request failed up to {last:,}, {failed}", last=rates[first - 1][1], failed=failed
    )


def _failure(result: RunResult) -> str | None:
    return next((level.failure for level in result.levels if level.failure), None)
