"""Reader of .dat files, which torr and wrktest.sh write with one line per level.

    concurrency  ok/s  mean service time in ms  success rate in %

Percent signs in the last column, comments from `#` on, and blank lines are read as well.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torr.errors import FileError, UsageError
from torr.messages.say import say
from torr.model.outside_file import read_bounded
from torr.results.base import LARGEST
from torr.results.series import LevelPoint
from torr.stats.series import Series, noun_of_points

if TYPE_CHECKING:
    from pathlib import Path

    from torr.results.position import Position


_MOST_BYTES = 1 << 20
RATES_MARK = "# arrivals/s"
"""The beginning of the first line of a file whose first column has rates."""
COLUMNS = ("concurrency", "ok/s", "mean service time in ms", "success rate in %")


def read(path: Path) -> Series:
    """Read a .dat file of torr or wrktest.sh, ascending by level.

    Raise FileError with file and line for a broken line, UsageError for a file that cannot be
    read or has no level.
    """
    try:
        content = read_bounded(path, _MOST_BYTES)
        lines = content.decode("utf-8").splitlines()
    except OSError as error:
        raise UsageError(
            say("{path} cannot be read: {error}", path=path, error=error.strerror or error)
        ) from error
    except UnicodeDecodeError as error:
        message = say("{path} is not text: byte {start} is not UTF-8", path=path, start=error.start)
        raise UsageError(
            message, say("a .dat file has the columns {columns}", columns=_columns())
        ) from error
    are_rates = bool(lines) and lines[0].startswith(RATES_MARK)
    points: dict[Position, LevelPoint] = {}
    for number, line in enumerate(lines, 1):
        cells = line.partition("#")[0].split()
        if not cells:
            continue
        point = _point(cells, path, number, are_rates=are_rates)
        if point.position in points:
            raise FileError(
                path,
                number,
                say("level {concurrency} comes a second time", concurrency=point.position),
            )
        points[point.position] = point
    if not points:
        raise UsageError(
            say("{path} has no level", path=path),
            say("a .dat file has the columns {columns}", columns=_columns()),
        )
    ordered = tuple(points[key] for key in sorted(points))
    return Series(path.stem, ordered, noun=noun_of_points(ordered))


def _point(cells: list[str], path: Path, line: int, *, are_rates: bool) -> LevelPoint:
    if len(cells) != len(COLUMNS):
        message = say(
            "{count} columns where {count_2} were expected", count=len(cells), count_2=len(COLUMNS)
        )
        raise FileError(path, line, message, say("the columns are {columns}", columns=_columns()))
    concurrency, rate, service, success = (
        _value(cell, column, path, line) for cell, column in zip(cells, COLUMNS, strict=True)
    )
    if are_rates and not concurrency:
        raise FileError(path, line, say("{cells!r} is not a rate", cells=cells[0]))
    is_count = concurrency is not None and concurrency >= 1 and concurrency == int(concurrency)
    if not are_rates and not is_count:
        raise FileError(path, line, say("{cells!r} is not a number of connections", cells=cells[0]))
    if rate is None:
        raise FileError(
            path,
            line,
            say("{cells!r} is not a number of {columns}", cells=cells[1], columns=COLUMNS[1]),
        )
    if success is not None and success > 100:
        raise FileError(path, line, say("a success rate of {cells} is over 100 %", cells=cells[3]))
    if are_rates:
        return LevelPoint(0, rate, service, success, rate=concurrency or 0)
    return LevelPoint(int(concurrency or 0), rate, service, success)


def _value(cell: str, column: str, path: Path, line: int) -> float | None:
    """Return the number of a cell, None for `nan`; only the last column may have a percent sign."""
    try:
        value = float(cell.removesuffix("%") if column == COLUMNS[3] else cell)
    except ValueError as error:
        message = say("{cell!r} is not a number ({column})", cell=cell, column=column)
        raise FileError(path, line, message) from error
    if math.isnan(value):
        return None
    if not 0 <= value <= LARGEST:
        raise FileError(
            path, line, say("{cell!r} is not a possible value ({column})", cell=cell, column=column)
        )
    return value


def _columns() -> str:
    return ", ".join(COLUMNS)
