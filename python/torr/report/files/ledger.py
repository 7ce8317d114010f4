"""The history of a name as Markdown and as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import to_builtins

from torr.messages.say import chain, render
from torr.report.files import csv, markdown_parts
from torr.report.tables.history_table import CHANGES, LISTS, sentence, table

if TYPE_CHECKING:
    from torr.messages.say import Language
    from torr.results.history import Ledger


def markdown(ledger: Ledger, language: Language = "en") -> str:
    """Return sentence and table in a language, to paste into a ticket."""
    head = chain("", ["**", markdown_parts.plain(sentence(ledger)), "**"])
    both = (head, markdown_parts.table(table(ledger)))
    return "\n\n".join(render(part, language) for part in both) + "\n"


def comma_separated(ledger: Ledger) -> str:
    """Return one row a run with every number under its name in the JSON."""
    entries = to_builtins(ledger.entries, enc_hook=str.__str__)  # of a message its English
    # A change that there is none of has no columns, and not an empty one of its own.
    known = [
        {k: x for k, x in entry.items() if x is not None or k not in (*CHANGES, *LISTS)}
        for entry in entries
    ]
    return csv.text(known)
