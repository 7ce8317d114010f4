"""The columns of a data file: a CSV file with a header line, or JSON lines.

Only its first rows are looked at, to refuse a template that names a column that is not there; the
engine reads the rest.
"""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

from torr.errors import FileError, UsageError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import TextIO

JSON_LINES = (".jsonl", ".ndjson")


def columns_of(path: Path) -> frozenset[str]:
    """The names of the columns; raises UsageError for a file without rows."""
    try:
        is_json = path.suffix in JSON_LINES
        with path.open(encoding="utf-8" if is_json else "utf-8-sig", newline="") as file:
            return _of_json(path, file) if is_json else _of_csv(path, file)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8", "save it as UTF-8") from error


def _of_csv(path: Path, file: TextIO) -> frozenset[str]:
    rows = csv.reader(file)
    names = next(rows, [])
    if not all(names) or not names:
        raise FileError(path, 1, "a column has no name", "write the names into the first line")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FileError(path, 1, f"two columns are called {twice!r}", "rename one of them")
    first = next(rows, None)
    if first is None:
        raise FileError(path, 2, "there is no row", "write one below the names of the columns")
    if len(first) != len(names):
        raise FileError(path, 2, f"{len(first)} values for {len(names)} columns")
    return frozenset(names)


def _of_json(path: Path, file: TextIO) -> frozenset[str]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise FileError(path, number, f"not JSON: {error}") from error
        if not isinstance(row, dict) or not row:
            raise FileError(path, number, "not a JSON object", 'write {"user": "ann"}')
        return frozenset(row)
    raise FileError(path, 1, "there is no row", "write one JSON object a line")
