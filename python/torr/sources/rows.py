"""The columns of a data file: a CSV file with a header line, or JSON lines.

Only the first rows are read, so that a template with an unknown column is refused; the engine reads
the rest.
"""

from __future__ import annotations

import csv
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from torr.errors import FileError, UsageError, require
from torr.messages.say import say
from torr.model.json_input import parse_json
from torr.model.outside_file import check_readable, lines_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

JSON_LINES = (".jsonl", ".ndjson")
_HINT = say("write them into a file")


def columns_of(path: Path) -> frozenset[str]:
    """Return the names of the columns; raise UsageError for a file without rows."""
    try:
        check_readable(path)
        require(
            path.is_file(),
            say("{path}: is not a regular file, and rows are read more than once", path=path),
            _HINT,
        )
        return _of_json(path) if path.suffix in JSON_LINES else _of_csv(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            say("{path}: byte {start} is not UTF-8", path=path, start=error.start),
            say("save it as UTF-8"),
        ) from error


def values_of(path: Path, names: Collection[str], most_rows: int) -> Iterator[str]:
    """Yield the values of some columns of the first rows; stop at an error."""
    is_json = path.suffix in JSON_LINES
    rows = map(_row, lines_of(path)) if is_json else csv.DictReader(_lines_of_csv(path))
    with suppress(OSError, ValueError, UsageError, csv.Error):
        for row in islice(rows, most_rows):
            yield from (str(row[name]) for name in names if row.get(name) is not None)


def _row(line: str) -> dict[str, Any]:
    """Return a row of JSON lines; empty for a line that is not an object."""
    row = parse_json(line) if line.strip() else {}
    return row if isinstance(row, dict) else {}


def _of_csv(path: Path) -> frozenset[str]:
    names, first = _first_rows(path)
    if not all(names) or not names:
        raise FileError(
            path, 1, say("a column has no name"), say("write the names into the first line")
        )
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate is not None:
        raise FileError(
            path,
            1,
            say("two columns are called {duplicate!r}", duplicate=duplicate),
            say("rename one of them"),
        )
    if first is None:
        raise FileError(
            path, 2, say("there is no row"), say("write one below the names of the columns")
        )
    if len(first) != len(names):
        values = f"{len(first)} value{'' if len(first) == 1 else 's'}"
        raise FileError(
            path, 2, say("{values} for {count} columns", values=values, count=len(names))
        )
    return frozenset(names)


def _first_rows(path: Path) -> tuple[list[str], list[str] | None]:
    """Return the names and the first row; raise FileError for a quote that is not closed."""
    rows = csv.reader(_lines_of_csv(path))
    names: list[str] = []
    try:
        names = next(rows, [])
        first = next(rows, None)
    except csv.Error as error:  # a value of more than 128 KiB
        raise _open_quote(path, 2 if names else 1) from error
    is_odd = first is None or len(first) != len(names)
    if is_odd and _ends_in_quotes(path):
        raise _open_quote(path, 1 if first is None else 2)
    return names, first


def _ends_in_quotes(path: Path) -> bool:
    """Return whether one of the first two rows has an open quote at the end of the file."""
    try:
        list(islice(csv.reader(_lines_of_csv(path), strict=True), 2))
    except csv.Error as error:
        return "end of data" in str(error)
    return False


def _open_quote(path: Path, line: int) -> FileError:
    return FileError(
        path, line, say("a quote is not closed"), say('a quote inside one is written ""')
    )


def _lines_of_csv(path: Path) -> Iterator[str]:
    return lines_of(path, encoding="utf-8-sig", newline="")


def _of_json(path: Path) -> frozenset[str]:
    for number, line in enumerate(lines_of(path, newline=""), start=1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except ValueError as error:
            raise FileError(path, number, str(error)) from error
        if not isinstance(row, dict) or not row:
            raise FileError(path, number, say("not a JSON object"), say('write {{"user": "ann"}}'))
        return frozenset(row)
    raise FileError(path, 1, say("there is no row"), say("write one JSON object a line"))
