"""Elements that pages are made of: titled and folded parts, tables, lists. All text is escaped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torr.report.cells import Table


def titled(title: str, content: Table | None) -> str:
    """Return a table below its title; nothing where there is none."""
    return "" if content is None else f"<h2>{escape(title)}</h2>{table(content)}"


def folded(title: str, content: str) -> str:
    """Return a part that opens when somebody looks; nothing where it is empty."""
    if not content:
        return ""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def table(content: Table | None) -> str:
    """Return a table that scrolls where it is too wide."""
    if content is None:
        return ""
    kinds = [_kind(content, at) for at in range(len(content.columns))]
    head = _cells("th", content.columns, kinds)
    body = "".join(f"<tr>{_cells('td', row, kinds)}</tr>" for row in content.rows)
    if content.names:
        body = body.replace("_", "_<wbr>")
    inside = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="scroll" tabindex="0"><table>{inside}</table></div>'


def _kind(content: Table, column: int) -> str:
    if column not in content.words:
        return ""
    if column in content.names:
        return ' class="word name"'
    is_long = any(len(row[column]) > 40 for row in content.rows)
    return ' class="word long"' if is_long else ' class="word"'


def _cells(tag: str, texts: Sequence[str], kinds: Sequence[str]) -> str:
    cells = zip(texts, kinds, strict=True)
    return "".join(f"<{tag}{kind}>{escape(text)}</{tag}>" for text, kind in cells)


def items(texts: Sequence[str]) -> str:
    """Return a list; nothing where it is empty."""
    shown = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{shown}</ul>" if shown else ""


def block(text: str) -> str:
    """Return text as it is."""
    return f"<pre>{escape(text)}</pre>"


def as_json(value: Any) -> str:  # noqa: ANN401 - JSON
    """Return a value for reading; nothing where it is empty."""
    if not value:
        return ""
    return f"<pre>{escape(json.dumps(value, indent=1, ensure_ascii=False))}</pre>"
