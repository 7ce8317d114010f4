"""Parts that summaries are made of, in Markdown: tables, lists, fences, and plain text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torr.messages.say import Text, chain, changed, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.report.tables.table import Table

_SPECIAL = re.compile(r"([\\`*\[\]<>|#]|\b_|_\b|(?<!\w)_(?!\w))")


def titled(title: str, content: Table | None) -> Iterator[str]:
    """Yield a table below its title; nothing where there is none."""
    if content is not None:
        yield chain("", ["## ", title])
        yield table(content)


def table(content: Table) -> Text:
    """Return a table; its first line is the names of the columns."""
    rules = ["---" if at in content.words else "--:" for at in range(len(content.columns))]
    head, *rows = ([plain(cell) for cell in line] for line in (content.columns, *content.rows))
    return chain("\n", [_row(head), _row(rules), *map(_row, rows)])


def _row(cells: Sequence[str]) -> Text:
    return Text(lambda language: f"| {' | '.join(render(cell, language) for cell in cells)} |")


def plain(text: str) -> Text:
    """Return text that Markdown leaves as it is."""
    return changed(text, lambda written: _SPECIAL.sub(r"\\\1", " ".join(written.split())))


def items(title: str, texts: Sequence[str]) -> Iterator[str]:
    """Yield a list below its title; nothing where it is empty."""
    if texts:
        yield chain("", ["## ", title])
        yield chain("\n", [chain("", ["- ", plain(text)]) for text in texts])


def fenced(text: str, language: str = "") -> str:
    """Return text as it is, within a fence that none of its backticks ends."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"
