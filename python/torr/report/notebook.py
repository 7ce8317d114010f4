"""A result inside a notebook: the sentence, the trust line, the chart and the tables of the page.

A fragment without a style sheet or a script, since notebooks strip both: colours stand in each
element, on a paper of its own.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from torr.report import (
    comparison_tables,
    main_figure,
    micro,
    sentence,
    stream_tables,
    svg,
    table,
    theme,
    trust,
)
from torr.report.comparison import Comparison

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torr.report.cells import Table

_COLOURS = {name: colour for colour, name in svg.VARIABLES.items()}
_TONES = {"healthy": theme.GREEN, "contended": theme.ORANGE, "generator-limited": theme.ORANGE}
_SIZE = (9.0, 5.6)
_BOX = f"background:{theme.PAPER};color:{theme.INK};padding:.75em 1em;max-width:60em"
_CELL = f"padding:.2em .7em;white-space:nowrap;border-bottom:1px solid {theme.GRID}"


def fragment(result: Mapping[str, Any]) -> str:
    """Return the whole fragment."""
    said = escape(sentence.verdict(result))
    tone = _TONES.get(trust.health(result), theme.GREY)
    line = f"border-left:4px solid {tone};padding:.2em .7em;color:{theme.MUTED}"
    parts = [
        f'<div style="font-size:1.2em;font-weight:600">{said}</div>',
        f'<div style="{line}">{escape(trust.trust(result))}</div>',
        _chart(result),
        *(_table(content) for content in _tables(result)),
    ]
    return f'<div style="{_BOX}">{"".join(parts)}</div>'


def _chart(result: Mapping[str, Any]) -> str:
    picture = main_figure.inline(result, _SIZE, "torr", sentence.verdict(result))
    return re.sub(r"var\((--\w+)\)", lambda found: _COLOURS[found[1]], picture)


def _tables(result: Mapping[str, Any]) -> Iterator[Table]:
    if result["kind"] == "diff":
        found = [table.ratios(result)]
    elif result["kind"] == "compare":
        found = [content for _, content in comparison_tables.of_cells(Comparison.of(result))]
    elif result["kind"] == micro.KIND:
        found = list(micro.tables(result))
    elif len(result["levels"]) == 1:
        found = [table.times(result["levels"][0]), table.slos(result), table.errors(result)]
    else:
        streams = stream_tables.streams_of_levels(result)
        found = [table.levels(result), streams, table.capacity(result)]
    yield from (content for content in found if content is not None)


def _table(content: Table) -> str:
    head = "".join(_cell("th", text, at, content) for at, text in enumerate(content.columns))
    rows = [
        "".join(_cell("td", text, at, content) for at, text in enumerate(row))
        for row in content.rows
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    style = "border-collapse:collapse;font-size:.9em;margin-top:1em"
    return f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(tag: str, text: str, column: int, content: Table) -> str:
    side = "left" if column in content.words else "right"
    return f'<{tag} style="{_CELL};text-align:{side}">{escape(text)}</{tag}>'
