"""Print the measured functions to pytest's terminal: budgets first, then all numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from torr import __version__
from torr.cli.columns import Columns
from torr.micro import machine, overhead
from torr.model.moment import stamp
from torr.plugin import exceptions
from torr.plugin.run_writer import conclusions
from torr.report.data.function_names import names
from torr.report.tables import flame_table, function_tables, profiled_line_table
from torr.report.text import functions
from torr.results.result import SCHEMA, RunResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.plugin.session import MeasurementSession
    from torr.report.tables.table import Table
    from torr.results.functions import MachineSpeed

_MAX_ROWS = 12


def write(session: MeasurementSession, reporter: Any) -> None:  # noqa: ANN401 - pytest's terminal
    """Write the section of a session with measurements."""
    if not session.entries and not session.notes:
        return
    reporter.section("torr: functions under load")
    if not session.entries:
        for line in session.notes:
            reporter.write_line(line)
        return
    speed, cost = machine.speed(), overhead.timing_overhead()
    reporter.write_line(
        f"machine speed {speed.median:.2f} ({speed.least:.2f}–{speed.most:.2f}); subtracted from"
        f" every time: {cost.clock_ns:.0f} ns for the clock, {cost.turn_ns:.1f} ns a turn in"
        " batches"
    )
    result = _result(session, speed)
    collector = functions.collector(result)
    if collector:
        reporter.write_line(collector)
    for table in function_tables.tables(result):
        _write_table(table, reporter)
    for line in exceptions.lines(result):
        reporter.write_line(line)
    for title, content in (*flame_table.top_functions(result), *profiled_line_table.tables(result)):
        reporter.write_line(f"\n{title}")
        if content:
            _write_table(replace(content, rows=content.rows[:_MAX_ROWS]), reporter)
    notes = (*flame_table.notes(result), *_of_unprofiled(session, result), *_of_limits(result))
    for line in (*notes, *session.notes):
        reporter.write_line(line)


def _result(session: MeasurementSession, speed: MachineSpeed) -> RunResult:
    """Return the session as a result, for the report; independent of whether it is stored."""
    return RunResult(
        **msgspec.structs.asdict(conclusions(session, speed)),
        schema_=SCHEMA,
        torr=__version__,
        kind="micro",
        name="pytest",
        started=stamp(session.started),
        status="running",
        levels=session.levels,
        profiles=session.profiles,
    )


def _write_table(table: Table, reporter: Any) -> None:  # noqa: ANN401 - pytest's terminal
    reporter.write_line("")
    for line in Columns(table.columns, table.rows, table.words).lines():
        reporter.write_line(line)


def _of_unprofiled(session: MeasurementSession, result: RunResult) -> Iterator[str]:
    name_of = names(result)
    for entry in session.entries:
        if entry.no_profile_reason is not None:
            yield f"no profile of {name_of(entry)}: {entry.no_profile_reason}"


def _of_limits(result: RunResult) -> Iterator[str]:
    name_of = names(result)
    for limit in result.fail_if:
        word = f"not shown: {limit.reason}" if limit.word == "not shown" else limit.word
        yield f"{name_of(limit)}: {limit.condition}: {word}"
