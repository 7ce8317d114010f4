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
    found = Comparison.of(result)
    for title, content in tables.of_cells(found):
        yield from parts.titled(parts.plain(title), content)
    yield from parts.items(say("Notes"), list(facts.notes(found)) if found.cells else [])
    yield from parts.titled(say("SLOs"), slo_table.of_comparison(result))
    yield from parts.titled(say("Trials that failed"), tables.of_failures(found))
    for trial, text in facts.log_tails(found):
        yield chain("", [parts.plain(trial), ":"])
        yield parts.fenced(text)
    yield from parts.titled(say("Errors"), tables.of_errors(found))
    yield from parts.titled(say("Rounds discarded"), tables.of_discarded(found))
    yield from parts.titled(say("Configuration"), facts.configuration(result))
    yield from parts.titled(say("Candidates"), facts.candidates(found))
    yield from parts.titled(say("What they are made of"), facts.versions(found))
    yield from parts.items(say("Differences of the answers"), found.experiment.differences)
    yield from parts.items(say("Rules of fairness, as applied"), found.experiment.rules)
    yield from parts.titled(say("Every verdict"), verdict_table.verdicts(result))
    yield from parts.titled(say("Environment"), facts.environment(result))
