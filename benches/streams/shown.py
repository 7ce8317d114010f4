"""Tables of rounds in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

Lines = list[str]


def spread(values: Sequence[float], form: str) -> tuple[str, str]:
    """The median, and what lies around it."""
    if not values:
        return "–", "–"
    low, high = format(min(values), form), format(max(values), form)
    return format(statistics.median(values), form), f"{low} … {high}"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Lines:
    """A table in Markdown."""
    rule = f"| --- |{' ---: |' * (len(columns) - 1)}"
    return [
        f"## {title}",
        "",
        f"| {' | '.join(columns)} |",
        rule,
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
