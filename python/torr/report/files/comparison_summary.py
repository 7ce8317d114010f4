"""summary.md of a comparison: a table for each number of workers, then how it was made.

Ratio columns are against the baseline; the notes are what the verdicts say, and nothing else. Each
metric's ratio with its interval and its word stands near the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import chain, say
from torr.report.data.comparison import Comparison
from torr.report.files import markdown_parts as parts
from torr.report.tables import comparison_facts as facts
from torr.report.tables import comparison_tables as tables
from torr.report.tables import slo_table, verdict_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.results.result import RunResult


def sections(result: RunResult) -> Iterator[str]:
    """Return the sections in their order."""
    comparison = Comparison.of(result)
    for title, content in tables.of_cells(comparison):
        yield from parts.titled(parts.plain(title), content)
    yield from parts.items(say("Notes"), list(facts.notes(comparison)) if comparison.cells else [])
    yield from parts.titled(say("SLOs"), slo_table.of_comparison(result))
    yield from parts.titled(say("Trials that failed"), tables.of_failures(comparison))
    for trial, text in facts.log_tails(comparison):
        yield chain("", [parts.plain(trial), ":"])
        yield parts.fenced(text)
    yield from parts.titled(say("Errors"), tables.of_errors(comparison))
    yield from parts.titled(say("Rounds discarded"), tables.of_discarded(comparison))
    yield from parts.titled(say("Configuration"), facts.configuration(result))
    yield from parts.titled(say("Candidates"), facts.candidates(comparison))
    yield from parts.titled(say("What they are made of"), facts.versions(comparison))
    yield from parts.items(say("Differences of the answers"), comparison.experiment.differences)
    yield from parts.items(say("Rules of fairness, as applied"), comparison.experiment.rules)
    yield from parts.titled(say("Every verdict"), verdict_table.verdicts(result))
    yield from parts.titled(say("Environment"), facts.environment(result))
