"""A console with the language of its texts."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from torr.cli.columns import Columns
from torr.cli.wrapping import wrapped
from torr.messages.say import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torr.messages.say import Language

_LABEL = 11  # cells of the terminal
UNCUT = 100_000
"""The width of lines in a pipe or a file: no table is that wide."""


def stdout_console() -> Console:
    """Return a console of stdout, as wide as the terminal or COLUMNS; pipes get whole lines."""
    is_limited = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if is_limited else UNCUT, highlight=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Screen:
    """A console that writes in a language."""

    console: Console
    language: Language = "en"

    @property
    def width(self) -> int:
        """The width of a line in cells."""
        return self.console.width

    def in_words(self, text: str) -> str:
        """Return a text in the language of the screen, before it is shortened."""
        return render(text, self.language)

    def columns(
        self,
        names: Sequence[str],
        rows: Sequence[Sequence[str]],
        left: frozenset[int] = frozenset({0}),
    ) -> Columns:
        """Return a table in the language of the screen."""
        return Columns(tuple(names), tuple(map(tuple, rows)), left, self.language)

    def line(self, text: str = "", style: str = "") -> None:
        """Write one line; a terminal that is narrower gets several."""
        self.console.print(Text(self._wrapped(self.in_words(text)), style))

    def pair(self, label: str, style: str, text: str, width: int = _LABEL) -> None:
        """Write a label, padded to a common width, and a text."""
        written = self.in_words(label)
        padded = set_cell_size(written, max(width, cell_len(written)))
        said = self._wrapped(self.in_words(text), cell_len(padded) + 1)
        self.console.print(Text(padded, style), Text(said))

    def _wrapped(self, text: str, indent: int = 0) -> str:
        return wrapped(text, self.width, indent) if self.console.is_terminal else text

    def pairs(self, lines: Mapping[str, str]) -> None:
        """Write a line per label."""
        for label, text in lines.items():
            self.pair(label, "dim", text)

    def table(self, table: Columns) -> None:
        """Write a table below the names of its columns."""
        for number, line in enumerate(table.lines()):
            self.console.print(Text(line, "" if number else "dim"))
