"""Lists and plain texts of the page: notes, rules, reasons, logs of failed trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import levels_of
from torr.messages.say import as_json, say
from torr.report.data.comparison import Comparison
from torr.report.data.tuning import Tuning
from torr.report.tables import comparison_facts as facts
from torr.report.tables import flame_table
from torr.report.text import functions
from torr.report.text.tuning_use import instructions
from torr.stats.series import noun_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.json import JsonObject
    from torr.results.level import Level
    from torr.results.result import RunResult


def lists(result: RunResult) -> list[JsonObject]:
    """Return the lists of the page: title, items, and whether it is folded."""
    lists = [
        *_of_comparison(result),
        listed(
            say("Causes that the LLM server's numbers show"),
            [cause.text for cause in result.serving],
        ),
        listed(say("Users who gave up"), [each.text for each in result.after_giving_up or ()]),
        listed(say("Profiles"), flame_table.notes(result)),
        *_health(result),
    ]
    return [part for part in lists if part["items"]]


def blocks(result: RunResult) -> list[JsonObject]:
    """Return texts that are shown as they are, folded: of failed trials, of the chosen setting."""
    if result.kind == "tune":
        return [
            {
                "title": as_json(say("How to start the recommended setting")),
                "name": as_json(title),
                "text": text,
            }
            for title, text in instructions(Tuning.of(result))
        ]
    if result.kind != "compare":
        return []
    tails = facts.log_tails(Comparison.of(result))
    title = as_json(say("Logs of the trials that failed"))
    return [{"title": title, "name": trial, "text": text} for trial, text in tails]


def _of_comparison(result: RunResult) -> list[JsonObject]:
    if result.kind != "compare":
        return []
    comparison = Comparison.of(result)
    return [
        listed(
            say("Meaning of the verdicts"),
            list(facts.notes(comparison)) if comparison.cells else [],
        ),
        listed(say("How the candidates' responses differ"), comparison.experiment.differences),
        listed(say("Rules of fairness, as applied"), comparison.experiment.rules, is_folded=True),
    ]


def _health(result: RunResult) -> list[JsonObject]:
    """Return the list of the generator's health, which functions do not have."""
    if result.kind == functions.KIND:
        return []
    return [listed(say("Health of the generator"), _reasons(result), is_folded=True)]


def _reasons(result: RunResult) -> Sequence[str]:
    """Return every level that is not healthy, with the reason."""
    reasons = [
        say("{where}: {why}", where=_place(level), why=reason)
        for level in result.levels
        for reason in level.health.reasons
    ]
    return reasons or ([say("Healthy at every level.")] if result.levels else [])


def _place(level: Level) -> str:
    at = levels_of([level.position], noun_of([level]))
    if level.candidate:
        return say("{who}, {at}, round {n}", who=level.candidate, at=at, n=level.round)
    return say("{at}, round {n}", at=at, n=level.round)


def listed(title: str, items: Sequence[str], *, is_folded: bool = False) -> JsonObject:
    """Return a list as the page takes it."""
    return {
        "title": as_json(title),
        "items": [as_json(item) for item in items],
        "folded": is_folded,
    }
