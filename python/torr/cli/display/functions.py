"""Display functions: tables of budgets, changes, functions and leaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.tables import function_tables

if TYPE_CHECKING:
    from torr.cli.screen import Screen
    from torr.results.result import RunResult

LEAST = (
    *("spread", "rounds", "p99"),
    *(say("most of them"), say("RSS an operation"), say("growth"), "why"),
)
"""Columns in the order in which a narrow terminal leaves them out."""


def show(result: RunResult, out: Screen) -> None:
    """Print the tables that have rows."""
    for table in function_tables.tables(result):
        out.line()
        content = out.columns(table.columns, table.rows, table.words)
        out.table(content.fitting(out.width, LEAST))
