"""What a page shows of a comparison below its picture: tables of cells, then folded everything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from torr.report import comparison_facts as facts
from torr.report import comparison_tables as tables
from torr.report import elements, verdict_table
from torr.report.comparison import Comparison

Result = Mapping[str, Any]


def numbers(result: Result) -> Iterator[str]:
    """Return the tables of cells, and what has to be known to read them."""
    found = Comparison.of(result)
    yield elements.titled("Verdicts", tables.of_words(found))
    for title, content in tables.of_cells(found):
        yield elements.titled(title, content)
    yield _listed("What the verdicts say", list(facts.notes(found)) if found.places else [])
    yield _listed("How the candidates' answers differ", facts.differences(found))
    yield _listed("Rules of fairness, as applied", facts.rules(found))
    yield elements.titled("Trials that failed", tables.of_failures(found))
    yield elements.titled("Rounds discarded", tables.of_discarded(found))


def details(result: Result) -> Iterator[str]:
    """Return what is folded."""
    found = Comparison.of(result)
    logs = "".join(
        f"<h3>{escape(trial)}</h3>{elements.block(text)}" for trial, text in facts.log_tails(found)
    )
    yield elements.folded("Logs of the trials that failed", logs)
    yield elements.folded("Every verdict", elements.table(verdict_table.verdicts(result)))
    yield elements.folded("Errors", elements.table(tables.of_errors(found)))
    yield elements.folded("Candidates", elements.table(facts.candidates(found)))
    yield elements.folded("Configuration", elements.table(facts.configuration(result)))


def _listed(title: str, texts: Sequence[str]) -> str:
    shown = elements.items(texts)
    return f"<h2>{escape(title)}</h2>{shown}" if shown else ""
