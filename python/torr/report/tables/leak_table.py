"""What functions leave behind, as people read it: a table of targets and findings, and what failed.

A function that may leave so many objects is judged by their number, any other by whether its growth
goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.function_names import names
from torr.report.data.result_words import word_text
from torr.report.tables.cells import Table

if TYPE_CHECKING:
    from torr.results.functions import LeakTable
    from torr.results.result import RunResult

_NOTHING = "–"
_MOST_NAMED = 3
_MOST_TYPES = 3


def table(result: RunResult) -> Table | None:
    """Return one row a function that was watched for what it leaves behind."""
    name_of = names(result)
    rows = tuple((name_of(leak), *_row(leak)) for leak in result.leaks)
    columns = (
        *(say("function"), say("operations"), say("target"), say("objects")),
        *(say("blocks an operation"), say("bytes an operation"), say("of the process")),
        *(say("verdict"), say("growth"), say("most of them")),
    )
    return Table(columns, rows, frozenset({0, 2, 7, 8, 9}), frozenset({0})) if rows else None


def _row(leak: LeakTable) -> tuple[str, ...]:
    limit = leak.limit
    most = [f"{count:+,} {kind}" for kind, count in leak.types[:_MOST_TYPES] if count > 0]
    return (
        f"{leak.count:,}",
        say("growth ends") if limit is None else say("objects ≤ {limit}", limit=f"{limit:+,}"),
        f"{leak.growth:+,}",
        f"{leak.per_operation:.2g}",
        _bytes(leak.traced_per_operation),
        _bytes(leak.rss_per_operation),
        say("met") if leak.met else say("missed"),
        word_text(leak.word),
        ", ".join(most),
    )


def _bytes(an_operation: float | None) -> str:
    return _NOTHING if an_operation is None else f"{an_operation:,.1f}"
