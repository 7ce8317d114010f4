"""Display profiles: a note for each, and its busiest functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from torr.cli.columns import cut
from torr.report.tables import flame_table

if TYPE_CHECKING:
    from torr.cli.screen import Screen
    from torr.report.tables.table import Table
    from torr.results.result import RunResult

MOST_ROWS = 5
# A shorter part of a function's name is of no use.
LEAST_NAME = 30
# With more profiles the tables are in the page and summary.md only.
MOST_TABLES = 6


def show(result: RunResult, out: Screen) -> None:
    """Print the note of each profile, and its busiest functions below."""
    tops = [table for _, table in flame_table.top_functions(result, MOST_ROWS)]
    tables = iter(tops if len(tops) <= MOST_TABLES else ())
    for profile, note in zip(result.profiles, flame_table.notes(result), strict=True):
        table = next(tables, None) if profile.folded else None
        if table is None:
            out.line(note)
            continue
        out.line()
        out.line(note)
        _print(table, out)


def _print(table: Table, out: Screen) -> None:
    """Print a row per function; columns without room beside the name are left out."""
    name, share, *others = table.columns
    columns = out.columns(table.columns, table.rows)
    out.table(columns.shortened(name, out.width, LEAST_NAME, (share, *others[1:2]), _shortened))


def _shortened(name: str, room: int) -> str:
    """Return a name without its middle: the end of a name tells more than its package."""
    if cell_len(name) <= room:
        return name
    head = cut(name, room // 3)
    return head + set_cell_size(name[::-1], room - cell_len(head))[::-1].strip()
