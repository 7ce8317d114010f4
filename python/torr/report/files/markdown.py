"""summary.md: the verdict, how far to trust it, and the numbers, to paste into a ticket."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from torr.messages.say import chain, render, say
from torr.report.data.comparison import Comparison
from torr.report.data.tuning import Tuning
from torr.report.files import markdown_parts as parts
from torr.report.tables import comparison_facts as facts
from torr.report.tables import (
    comparison_tables,
    flame_table,
    level_table,
    monitor_table,
    request_tables,
    serving_table,
    slo_table,
    stream_tables,
    verdict_table,
)
from torr.report.text import sentence, trust
from torr.report.text.tuning_use import instructions
from torr.report.view import view_tables
from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torr.messages.message import Message
    from torr.messages.say import Language
    from torr.report.view.view_tables import Titled
    from torr.results.result import RunResult

_MOST_ROWS = 40
_MOST_FUNCTIONS = 10


def write(result: RunResult, directory: Path, language: Language = "en") -> list[Path]:
    """Write summary.md of a result."""
    path = directory / "summary.md"
    replace_bytes(path, text(result, language).encode())
    return [path]


def text(result: RunResult, language: Language = "en") -> str:
    """Return the summary in a language."""
    return "\n\n".join(render(part, language) for part in _parts(result)) + "\n"


def _parts(result: RunResult) -> Iterator[str]:
    yield chain("", ["# ", parts.plain(result.name)])
    yield chain("", ["**", parts.plain(sentence.verdict(result)), "**"])
    yield parts.plain(trust.trust(result))
    if result.kind == "compare":
        yield from _comparison(result)
    elif result.kind == "tune":
        yield from _tuning(result)
    else:
        for title, table in _tables(result):
            yield from parts.titled(title, table)
    yield from parts.items(say("Causes that the LLM server's numbers show"), _causes(result))
    giving_up = [each.text for each in result.after_giving_up or ()]
    yield from parts.items(say("Users who gave up"), giving_up)
    yield from _profiles(result)
    if result.command:
        yield parts.fenced(shlex.join(result.command), "sh")
    made = f"torr {result.torr} {result.kind}"
    yield parts.plain(chain(" · ", [made, trust.when(result)]))


def _tables(result: RunResult) -> Iterator[Titled]:
    """Return the tables of a result in their order, which is that of the page where it can be."""
    if result.kind == "diff":
        yield from view_tables.first(result)
        return
    if result.kind == "micro":
        yield from map(_short, view_tables.first(result))
        return
    if len(result.levels) == 1:
        yield from view_tables.of_level(result, say("Times"))
    else:
        yield say("Levels"), level_table.levels(result)
        yield say("Streams"), stream_tables.streams_of_levels(result)
        yield _short((say("Requests"), request_tables.requests_of_levels(result)))
        streams = request_tables.streams_of_requests_of_levels(result)
        yield _short((say("Streams of requests"), streams))
    yield say("Capacity"), level_table.capacity(result)
    yield _short((say("LLM servers and GPUs"), serving_table.of_levels(result)))
    yield _short((say("Target and machine"), monitor_table.of_levels(result)))
    yield say("SLOs"), slo_table.of_levels(result)
    yield say("Errors"), level_table.errors(result)


def _tuning(result: RunResult) -> Iterator[str]:
    """Return the sections of a tuning; the search is cut to its first settings."""
    for title, table in view_tables.first(result):
        yield from parts.titled(title, table)
    for title, text in instructions(Tuning.of(result)):
        yield chain("", [parts.plain(title), ":"])
        yield parts.fenced(text)
    for title, table in view_tables.folded(result):
        if table is not None:
            yield from parts.titled(*_short((title, table)))


def _comparison(result: RunResult) -> Iterator[str]:
    """Return the sections of a comparison; ratios are against the baseline."""
    comparison = Comparison.of(result)
    for title, content in comparison_tables.of_cells(comparison):
        yield from parts.titled(parts.plain(title), content)
    yield from parts.items(say("Notes"), list(facts.notes(comparison)) if comparison.cells else [])
    yield from parts.titled(say("SLOs"), slo_table.of_comparison(result))
    monitored = serving_table.of_comparison(comparison)
    yield from parts.titled(say("LLM servers and GPUs"), monitored)
    yield from parts.titled(say("Trials that failed"), comparison_tables.of_failures(comparison))
    for trial, text in facts.log_tails(comparison):
        yield chain("", [parts.plain(trial), ":"])
        yield parts.fenced(text)
    yield from parts.titled(say("Errors"), comparison_tables.of_errors(comparison))
    yield from parts.titled(say("Rounds discarded"), comparison_tables.of_discarded(comparison))
    yield from parts.titled(say("Configuration"), facts.configuration(result))
    yield from parts.titled(say("Candidates"), facts.candidates(comparison))
    yield from parts.titled(say("Versions of the candidates"), facts.versions(comparison))
    yield from parts.items(say("Differences of the responses"), comparison.experiment.differences)
    yield from parts.items(say("Rules of fairness, as applied"), comparison.experiment.rules)
    yield from parts.titled(say("Every verdict"), verdict_table.verdicts(result))
    yield from parts.titled(say("Environment"), facts.environment(result))


def _causes(result: RunResult) -> list[Message]:
    return [cause.text for cause in result.serving]


def _profiles(result: RunResult) -> Iterator[str]:
    """Return the outcome of each profile, and its first functions."""
    yield from parts.items(say("Profiles"), flame_table.notes(result))
    for title, table in flame_table.top_functions(result, _MOST_FUNCTIONS):
        yield from parts.titled(parts.plain(title), table)


def _short(titled: Titled) -> Titled:
    """Leave out a table that is too long for a ticket: the page has it whole."""
    title, table = titled
    return title, table if table and len(table.rows) <= _MOST_ROWS else None
