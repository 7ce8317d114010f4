"""levels.csv: one row a measured level, every metric under its name in result.json.

Keys of nested objects are joined by dots (`latency.service_ms.p99`). Intervals, histograms,
samples, steps and readings of the monitor over time are only in result.json: they are not numbers
of a level.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, structs

from torr.report.data.flat import flat, members
from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from torr.report.data.flat import Row
    from torr.results.result import RunResult, TrialFailure


_TEXT_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write(result: RunResult, directory: Path) -> list[Path]:
    """Write levels.csv of a result; of a diff, one row a level of each side."""
    path = directory / "levels.csv"
    replace_bytes(path, text(rows_of(result)).encode())
    return [path]


def text(levels: Iterable[Row]) -> str:
    """Return the table; a column that a level lacks is empty."""
    rows = records(levels)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writerow({column: _cell(column) for column in columns})
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return out.getvalue()


def records(levels: Iterable[Row]) -> list[dict[str, Any]]:
    """Return levels as flat rows."""
    return [dict(flat(level)) for level in levels]


def rows_of(result: RunResult) -> list[Row]:
    """Return every level and failed trial of a result; of a diff, every level of each side."""
    if result.kind != "diff":
        return [*result.levels, *map(_failed, result.failures)]
    return [
        {"series": series.name, **dict(members(point))}
        for series in result.series
        for point in series.points
    ]


def _failed(trial: TrialFailure) -> dict[str, Any]:
    """Return the row of a trial that failed: its candidate, and why."""
    whose = {"candidate": trial.candidate, "factors": trial.factors, "round": trial.round}
    if trial.place is not UNSET:
        whose["place"] = structs.asdict(trial.place)
    return {**whose, "failure": trial.text, "failure_kind": trial.kind}


def _cell(value: object) -> object:
    """Return a value quoted where a spreadsheet would run it as a formula; None is empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    # csv leaves a carriage return bare, and readers take it for the end of the row.
    written = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{written}" if value.startswith(_TEXT_STARTS) else written
