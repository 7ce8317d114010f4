"""Display a comparison: a table for each cell, inconclusive verdicts, SLOs and failed trials.

For many cells there is one table of how often each candidate has which word.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from rich.text import Text

from torr.cli.columns import cut
from torr.cli.display.slos import show_of_comparison
from torr.messages.counts import counted
from torr.messages.say import chain, changed, say
from torr.report.data.comparison import Comparison
from torr.report.tables import comparison_tables as tables
from torr.report.tables.serving_table import LEAST_OF_SERVING, of_comparison

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.cli.screen import Screen
    from torr.report.data.comparison import ComparisonCell
    from torr.report.tables.table import Table
    from torr.results.result import RunResult

MOST_CELLS = 12
MOST_FAILURES = 10
MOST_PRINTED = 3
LEAST_NAME = 8
# Columns that are empty in most comparisons.
LEAST_WORDS = ("no verdict", "failed")


def show(result: RunResult, out: Screen) -> None:
    """Print the cells or the counts of their words, SLOs, and failed trials."""
    comparison = Comparison.of(result)
    if len(comparison.cells) <= MOST_CELLS:
        for cell in comparison.cells:
            _show_cell(cell, out)
    else:
        _show_words(comparison, out)
    _show_serving(comparison, out)
    show_of_comparison(result, out)
    _show_failures(comparison, out)


def _show_cell(cell: ComparisonCell, out: Screen) -> None:
    out.line()
    out.line(cell.words, "bold")
    table = tables.of_cell(cell)
    if table is not None:
        # Columns in the order in which a narrow terminal leaves them out.
        _print(table, ("p99", tables.coverage_at([cell]), "n"), out)
    for line in _reasons(cell):
        out.line(cut(out.in_words(line), out.width), "dim")


def _reasons(cell: ComparisonCell) -> Iterator[str]:
    """Yield why a candidate has no better word."""
    for entry in cell.rivals:
        reason = cell.reason(entry)
        if reason:
            yield _line(say("{name}: {said}", name=entry.name, said=reason), 2)


def _show_words(comparison: Comparison, out: Screen) -> None:
    table = tables.of_words(comparison)
    if table is not None:
        out.line()
        _print(table, LEAST_WORDS, out)
        cells = counted(len(comparison.cells), "cell")
        where = say("The tables of the {cells} are in summary.md and report.html.", cells=cells)
        out.line(where, "dim")


def _show_serving(comparison: Comparison, out: Screen) -> None:
    """Print what LLM servers and GPUs reported, for as many cells as have tables."""
    table = of_comparison(comparison) if len(comparison.cells) <= MOST_CELLS else None
    if table is not None:
        out.line()
        _print(table, LEAST_OF_SERVING, out)


def _show_failures(comparison: Comparison, out: Screen) -> None:
    table = tables.of_failures(comparison)
    if table is None:
        return
    out.line()
    trials = counted(len(table.rows), "trial")
    out.line(say("{trials} failed", trials=trials), "bold")
    shown = zip(table.rows[:MOST_FAILURES], comparison.failures, strict=False)
    for (candidate, cell, number, kind, why), failure in shown:
        where = chain(", ", [candidate, cell])
        trial = say("{where}, round {number}: {kind}", where=where, number=number, kind=kind)
        out.line(cut(out.in_words(_line(trial, 2)), out.width))
        # Not shortened, since advice is at its end.
        for line in wrap(out.in_words(_line(why)), max(LEAST_NAME, out.width - 4)):
            out.line(f"    {line}", "dim")
        for line in failure.log_tail[-MOST_PRINTED:]:
            out.line(cut(f"    | {_printed(line)}", out.width), "dim")
    left = len(table.rows) - MOST_FAILURES
    if left > 0:
        out.line(_line(say("and {n:,} more", n=left), 2), "dim")


def _printed(text: str) -> str:
    """Return the output of a server without colours and control characters."""
    plain = Text.from_ansi(text).plain
    return "".join(letter for letter in plain if letter.isprintable())


def _line(text: str, indent: int = 0) -> str:
    """Return a text in one line."""
    return changed(text, lambda written: " " * indent + " ".join(written.split()))


def _print(table: Table, least: tuple[str, ...], out: Screen) -> None:
    """Print a table; long names are shortened before columns are left out."""
    rows = [(_line(name), *cells) for name, *cells in table.rows]
    columns = out.columns(table.columns, rows, table.words)
    out.table(columns.shortened(columns.names[0], out.width, LEAST_NAME, least))
