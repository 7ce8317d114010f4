"""Plain tables for a terminal, with text on the left and numbers on the right.

A table that is too wide loses its least important columns, never digits or units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from torr.cli.wrapping import wrapped
from torr.messages.say import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torr.messages.say import Language

GAP = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of columns, and rows of cells; `left` are the columns of text.

    Columns are named in English, and written in `language`.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: frozenset[int] = frozenset({0})
    language: Language = "en"

    @property
    def widths(self) -> list[int]:
        """The width of each column in cells of the terminal."""
        return [max(map(_width, column)) for column in zip(*self._written(), strict=True)]

    @property
    def width(self) -> int:
        """The width of all columns with the gaps between them."""
        return sum(self.widths) + GAP * (len(self.names) - 1)

    def fitting(self, width: int, least: Sequence[str]) -> Columns:
        """Return the table without the first columns of `least`, until it fits or none is left."""
        table = self
        for name in least:
            if table.width <= width:
                break
            table = table.without(name)
        return table

    def without(self, name: str) -> Columns:
        """Return the table without a column."""
        if name not in self.names:
            return self
        at = self.names.index(name)
        return replace(
            self,
            names=self.names[:at] + self.names[at + 1 :],
            rows=tuple(row[:at] + row[at + 1 :] for row in self.rows),
            left=frozenset(n - (n > at) for n in self.left if n != at),
        )

    def room_for(self, name: str, width: int) -> int:
        """Return the width that a column can have beside the others."""
        return width - self.without(name).width - GAP

    def shortened(
        self,
        name: str,
        width: int,
        least_width: int,
        least: Sequence[str] = (),
        shorten: Callable[[str, int], str] | None = None,
    ) -> Columns:
        """Return the table with the texts of a column shortened, so that it fits.

        Columns of `least` are left out while the column has less than `least_width`.
        """
        table = self
        for other in least:
            if table.room_for(name, width) < least_width:
                table = table.without(other)
        room = max(least_width, table.room_for(name, width))
        return table.with_texts(name, lambda text: (shorten or cut)(text, room))

    def broken(self, name: str, width: int, least_width: int, least: Sequence[str]) -> Columns:
        """Return the table with the texts of a column in several lines, so that it fits.

        Columns of `least` are left out as in `shortened`.
        """
        return self.shortened(name, width, least_width, least, wrapped)

    def with_texts(self, name: str, change: Callable[[str], str]) -> Columns:
        """Return the table with the name and the texts of a column changed."""
        at = self.names.index(name)

        def in_row(row: tuple[str, ...]) -> tuple[str, ...]:
            return (*row[:at], change(render(row[at], self.language)), *row[at + 1 :])

        return replace(self, names=in_row(self.names), rows=tuple(map(in_row, self.rows)))

    def lines(self) -> Iterator[str]:
        """Yield the line of names, then the rows."""
        widths = self.widths
        for row in self._written():
            for cells in zip_longest(*(cell.split("\n") for cell in row), fillvalue=""):
                yield self._line(cells, widths)

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = [
            set_cell_size(cell, width) if at in self.left else _right(cell, width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return (" " * GAP).join(padded).rstrip()

    def _written(self) -> list[list[str]]:
        """Return the names and the rows in the language."""
        return [[render(cell, self.language) for cell in row] for row in (self.names, *self.rows)]


def cut(text: str, width: int) -> str:
    """Return a text of at most `width` cells; a shortened one ends in an ellipsis."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def _width(text: str) -> int:
    """Return the width of the longest line of a cell."""
    return max(map(cell_len, text.split("\n")))


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text
