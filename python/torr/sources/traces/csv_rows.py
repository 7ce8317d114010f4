"""Rows of a CSV file with a header, whose columns are found by name, never by position."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from torr.errors import FileError
from torr.messages.say import say
from torr.model.stream import MOST_TOKENS
from torr.units import LONGEST_NS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.sources.traces.source import TraceSource


class CsvRow:
    """The cells of a line; names and numbers of its columns are those of all lines."""

    __slots__ = ("_cells", "_places", "line", "source")

    def __init__(self, source: TraceSource, places: dict[str, int]) -> None:
        self.source, self._places = source, places
        self.line = 1
        self._cells: Sequence[str] = ()

    def fill(self, line: int, cells: Sequence[str]) -> None:
        """Take the cells of the next line."""
        self.line, self._cells = line, cells

    def text(self, name: str) -> str:
        """Return a cell; empty where the file has no such column."""
        place = self._places.get(name)
        return "" if place is None else self._cells[place]

    def tokens(self, name: str) -> int:
        """Return the whole number of a cell; raise FileError."""
        text = self.text(name)
        try:
            number = int(text)
        except ValueError:
            number = _whole(text)
        if not 0 <= number <= MOST_TOKENS:
            raise self.error(
                say(
                    "{name} is {text!r}, not a number from 0 to {most:,}",
                    name=name,
                    text=text[:40],
                    most=MOST_TOKENS,
                )
            )
        return number

    def time(self, name: str, nanoseconds: int | None) -> int:
        """Return a time that was read from a cell; raise FileError where it could not be read."""
        if nanoseconds is None or not -LONGEST_NS * 100 <= nanoseconds <= LONGEST_NS * 100:
            text = self.text(name)[:40]
            raise self.error(say("{name} is {text!r}, not a time", name=name, text=text))
        return nanoseconds

    def error(self, message: str) -> FileError:
        """Return an error at this line."""
        return FileError(self.source.path, self.line, message)


def read_csv(source: TraceSource, names: Sequence[str]) -> Iterator[CsvRow]:
    """Yield the same CsvRow for each line, with other cells; raise FileError.

    The columns of `names` have to be there.
    """
    reader = csv.reader(source.text())
    line = 0
    try:
        header = [name.strip() for name in next(reader, [])]
        row = CsvRow(source, {name: place for place, name in enumerate(header)})
        missing = next((name for name in names if name not in header), None)
        if missing is not None:
            raise row.error(say("there is no column {name!r}", name=missing))
        for cells in reader:
            line = reader.line_num
            if len(cells) != len(header):
                if not any(cells):
                    continue
                row.fill(line, ())
                raise row.error(
                    say("{n} values for {count} columns", n=len(cells), count=len(header))
                )
            row.fill(line, cells)
            yield row
    except csv.Error as error:
        raise FileError(source.path, reader.line_num, str(error)) from error


def _whole(text: str) -> int:
    """Return the number of a text such as `472.0`, which some tools write; -1 if it is none."""
    try:
        number = float(text)
        return int(number) if number.is_integer() else -1
    except (ValueError, OverflowError):
        return -1
