"""Display a tuning: the finalists, how to use the recommended setting, settings that failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torr.messages.say import chain, say
from torr.report.data.tuning import Tuning
from torr.report.tables import tuning_tables as tables
from torr.report.text.tuning_use import instructions

if TYPE_CHECKING:
    from torr.cli.screen import Screen
    from torr.report.tables.table import Table
    from torr.results.result import RunResult

LEAST_NAME = 20
MOST_OUT = 10
MOST_SEARCHED = 10
# In the order in which a narrow terminal leaves them out.
_LEAST = ("n", "RSS", "CPU a request", "note", "rounds", "last step", "place")


def show(result: RunResult, out: Screen) -> None:
    """Print the finalists, the recommended setting's command, and what failed."""
    tuning = Tuning.of(result)
    _show_table(tables.of_finalists(tuning), say("Finalists, in fresh rounds"), out)
    if not tuning.outcome.rounds:
        seen = tables.of_search(tuning)
        _show_table(_first(seen), say("The search: estimates without a verdict"), out)
    for title, text in instructions(tuning):
        out.line()
        out.line(title, "bold")
        for line in text.splitlines():
            out.line(f"  {line}")
    _show_out(tuning, out)


def _first(table: Table | None) -> Table | None:
    return table and replace(table, rows=table.rows[:MOST_SEARCHED])


def _show_table(table: Table | None, title: str, out: Screen) -> None:
    if table is None:
        return
    out.line()
    out.line(title, "bold")
    columns = out.columns(table.columns, table.rows, table.words)
    out.table(columns.broken(columns.names[0], out.width, LEAST_NAME, _LEAST))


def _show_out(tuning: Tuning, out: Screen) -> None:
    failed = tuning.outcome.out
    if not failed:
        return
    out.line()
    out.line(say("Settings that are out"), "bold")
    for each in failed[:MOST_OUT]:
        line = chain(": ", [tuning.name(each.setting), each.why or each.problem])
        out.line(chain("", ["  ", line]))
    if len(failed) > MOST_OUT:
        more = say("and {n:,} more", n=len(failed) - MOST_OUT)
        out.line(chain("", ["  ", more]), "dim")
