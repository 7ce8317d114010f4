"""A comparison in the terminal: a table for each cell, what is inconclusive, which trials failed.

Of many cells only how often each candidate has which word: the files have every cell.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.text import Text

from torr.cli.columns import GAP, Columns, cut
from torr.report import comparison_tables as tables
from torr.report.comparison import Comparison
from torr.units import show_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from torr.report.cells import Table
    from torr.report.comparison import Place

MOST_CELLS = 12
MOST_FAILURES = 10
LEAST_NAME = 8
# What a narrow terminal can do without: the first goes first.
LEAST = ("p99", "95 %", "n")
# Of the words of many cells: what most comparisons have none of.
LEAST_WORDS = ("no verdict", "failed")


def show(result: dict[str, Any], out: Console) -> None:
    """Print the cells, or in how many each candidate has which word, and the trials that failed."""
    found = Comparison.of(result)
    if len(found.places) <= MOST_CELLS:
        for place in found.places:
            _show_place(place, out)
    else:
        _show_words(found, out)
    _show_failures(found, out)


def _show_place(place: Place, out: Console) -> None:
    out.print()
    out.print(Text(place.words, "bold"))
    _print(tables.of_place(place), LEAST, out)
    for line in _doubts(place):
        out.print(Text(cut(line, out.width), "dim"))


def _doubts(place: Place) -> Iterator[str]:
    """Why a candidate has no better word."""
    for entry in place.rivals:
        reason = place.reason(entry)
        if reason:
            yield f"  {_line(f'{entry.name}: {reason}')}"


def _show_words(found: Comparison, out: Console) -> None:
    table = tables.of_words(found)
    if table is not None:
        out.print()
        _print(table, LEAST_WORDS, out)
        cells = show_count(len(found.places), "cell")
        out.print(Text(f"The tables of the {cells} are in summary.md and report.html.", "dim"))


def _show_failures(found: Comparison, out: Console) -> None:
    table = tables.of_failures(found)
    if table is None:
        return
    out.print()
    out.print(Text(f"{show_count(len(table.rows), 'trial')} failed", "bold"))
    for candidate, cell, number, kind, why in table.rows[:MOST_FAILURES]:
        trial = f"{candidate}, {cell}, round {number}" if cell else f"{candidate}, round {number}"
        out.print(Text(cut(f"  {_line(f'{trial}: {kind}')}", out.width)))
        out.print(Text(cut(f"    {_line(why)}", out.width), "dim"))
    left = len(table.rows) - MOST_FAILURES
    if left > 0:
        out.print(Text(f"  and {left:,} more", "dim"))


def _line(text: str) -> str:
    """Text from outside in one line."""
    return " ".join(text.split())


def _print(table: Table, least: tuple[str, ...], out: Console) -> None:
    """A table whose names give way before any number does."""
    columns = Columns(table.columns, table.rows, table.words)
    name = columns.names[0]
    bare = columns.without(name).fitting(out.width - LEAST_NAME - GAP, least)
    room = max(LEAST_NAME, out.width - bare.width - GAP)
    names = tuple(cut(_line(row[0]), room) for row in table.rows)
    shown = replace(
        bare,
        names=(cut(name, room), *bare.names),
        rows=tuple((first, *row) for first, row in zip(names, bare.rows, strict=True)),
        left=frozenset({0, *(at + 1 for at in bare.left)}),
    )
    for number, line in enumerate(shown.lines()):
        out.print(Text(line, "" if number else "dim"))
