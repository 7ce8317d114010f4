"""levels.csv: one row a measured level, every metric under its name in result.json.

Keys of nested objects are joined by dots (`latency.service_ms.p99`). Slices, histograms, samples,
steps and what was watched over time are left to result.json: they are not numbers of a level.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torr.store.atomic import replace_bytes

_LEFT_OUT = {"slices", "histograms", "samples", "steps"}
_TEXT_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write(result: dict[str, Any], directory: Path) -> list[Path]:
    """Write levels.csv of a result; of a diff, one row a level of each side."""
    path = directory / "levels.csv"
    replace_bytes(path, text(rows_of(result)).encode())
    return [path]


def text(levels: list[dict[str, Any]]) -> str:
    """Return the table; a column that a level lacks is empty."""
    rows = [dict(flat(level)) for level in levels]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writerow({column: _cell(column) for column in columns})
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return out.getvalue()


def rows_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Every level and failed trial of a result; of a diff, every level of each side."""
    if result["kind"] != "diff":
        levels: list[dict[str, Any]] = result["levels"]
        return [*levels, *map(_failed, result.get("failures") or ())]
    return [
        {"series": series["name"], **point}
        for series in result["series"]
        for point in series["points"]
    ]


def _failed(trial: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a trial that came to nothing: whose it was, and why."""
    known = {key: trial.get(key) for key in ("candidate", "factors", "round")}
    kept = {key: value for key, value in known.items() if value is not None}
    return {**kept, "failure": trial.get("text"), "failure_kind": trial.get("kind")}


def flat(part: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every number of a level under its whole name; lists as words."""
    for key, value in part.items():
        if key in _LEFT_OUT:
            continue
        if key == "monitor":
            # Its numbers of the level; over time they are result.json's.
            derived = {"derived": (value or {}).get("derived") or {}}
            yield from flat(derived, f"{prefix}monitor.")
        elif isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{key}", " ".join(str(item) for item in value)
        else:
            yield f"{prefix}{key}", value


def _cell(value: object) -> object:
    """Text that a spreadsheet would run as a formula is quoted; None is empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    # csv leaves a carriage return bare, and readers take it for the end of the row.
    written = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{written}" if value.startswith(_TEXT_STARTS) else written
