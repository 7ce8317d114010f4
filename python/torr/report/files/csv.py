"""levels.csv: one row a measured level, every metric under its name in result.json.

Keys of nested objects are joined by dots (`latency.service_ms.p99`). Slices, histograms, samples,
steps and what was watched over time are left to result.json: they are not numbers of a level.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from torr.results.base import ResultPart, parts_of
from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from torr.results.result import RunResult, TrialFailure

    Row = ResultPart | Mapping[str, Any]

_LEFT_OUT = {"slices", "histograms", "samples", "steps"}
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
    """Every level and failed trial of a result; of a diff, every level of each side."""
    if result.kind != "diff":
        return [*result.levels, *map(_failed, result.failures)]
    return [
        {"series": series.name, **dict(_members(point))}
        for series in result.series
        for point in series.points
    ]


def _failed(trial: TrialFailure) -> dict[str, Any]:
    """The row of a trial that came to nothing: whose it was, and why."""
    whose = {"candidate": trial.candidate, "factors": trial.factors, "round": trial.round}
    return {**whose, "failure": trial.text, "failure_kind": trial.kind}


def flat(part: Row, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every number of a level under its whole name; lists as words."""
    for key, value in _members(part):
        if key in _LEFT_OUT:
            continue
        if key == "monitor":
            # Its numbers of the level; over time they are result.json's.
            yield from flat({"derived": (value and value.derived) or {}}, f"{prefix}monitor.")
        elif isinstance(value, Mapping | ResultPart):
            yield from flat(value, f"{prefix}{key}.")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{key}", " ".join(str(item) for item in value)
        else:
            yield f"{prefix}{key}", value


def _members(part: Row) -> Iterable[tuple[str, Any]]:
    """The keys of a part in result.json with their values."""
    if isinstance(part, Mapping):
        return part.items()
    return [
        (key, value)
        for field, key in zip(part.__struct_fields__, part.__struct_encode_fields__, strict=True)
        if not _is_absent(part, field, value := getattr(part, field))
    ]


def _is_absent(part: ResultPart, field: str, value: object) -> bool:
    """Whether it is a part, or a mark, that the level does not have: no column is made of it."""
    if value is None:
        return field in parts_of(type(part))
    return value is msgspec.UNSET or (field == "at_least" and not value)


def _cell(value: object) -> object:
    """Text that a spreadsheet would run as a formula is quoted; None is empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    # csv leaves a carriage return bare, and readers take it for the end of the row.
    written = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{written}" if value.startswith(_TEXT_STARTS) else written
