"""Plain tables for a terminal: names to the left, numbers to the right, and no number cut.

What does not fit loses its least important columns, never digits or units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from torr.messages.say import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.messages.say import Language

GAP = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of columns and rows of cells; `left` are those that hold text.

    Columns are named in English, and written in `language`.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: frozenset[int] = frozenset({0})
    language: Language = "en"

    @property
    def widths(self) -> list[int]:
        """How many cells of the terminal each column takes."""
        return [max(map(cell_len, column)) for column in zip(*self._written(), strict=True)]

    @property
    def width(self) -> int:
        """How many all of them take, with the gaps between."""
        return sum(self.widths) + GAP * (len(self.names) - 1)

    def fitting(self, width: int, least: Sequence[str]) -> Columns:
        """The same without the first of `least`, as many as it takes; then as wide as it is."""
        found = self
        for name in least:
            if found.width <= width:
                break
            found = found.without(name)
        return found

    def without(self, name: str) -> Columns:
        """The same without a column, if it is there."""
        if name not in self.names:
            return self
        at = self.names.index(name)
        return replace(
            self,
            names=self.names[:at] + self.names[at + 1 :],
            rows=tuple(row[:at] + row[at + 1 :] for row in self.rows),
            left=frozenset(n - (n > at) for n in self.left if n != at),
        )

    def lines(self) -> Iterator[str]:
        """The names, then the rows, as lines."""
        widths = self.widths
        for row in self._written():
            cells = [
                set_cell_size(cell, width) if at in self.left else _right(cell, width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            yield (" " * GAP).join(cells).rstrip()

    def _written(self) -> list[list[str]]:
        """The names and the rows in the language."""
        return [[render(cell, self.language) for cell in row] for row in (self.names, *self.rows)]


def cut(text: str, width: int) -> str:
    """Return text that takes no more than `width` cells; what is cut ends in an ellipsis."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text
