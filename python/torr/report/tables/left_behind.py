"""What functions leave behind, as people read it: a table of targets and findings, and what failed.

A function that may leave so many objects is judged by their number, any other by whether its growth
goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import Text, join, say
from torr.messages.told import told
from torr.report.data.micro_names import names
from torr.report.tables.cells import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def failed(result: RunResult) -> list[Text]:
    """Say of which functions growth goes on, and which left more than they may."""
    name_of = names(result)
    missed = [leak for leak in result.leaks if not leak.is_met]
    endless = [name_of(leak) for leak in missed if leak.limit is None]
    beyond = [
        say(
            "{name}: {growth} objects, not {limit}",
            name=name_of(leak),
            growth=f"{leak.growth:+,}",
            limit=f"{leak.limit:+,}",
        )
        for leak in missed
        if leak.limit is not None
    ]
    parts = []
    if endless:
        parts.append(say("growth that goes on in {names}", names=_named(endless)))
    if beyond:
        parts.append(say("more left behind than may be ({names})", names=_named(beyond)))
    return parts


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
        say("met") if leak.is_met else say("missed"),
        told(leak.word),
        ", ".join(most),
    )


def _named(found: Sequence[str]) -> str:
    more = len(found) - _MOST_NAMED
    return join([*found[:_MOST_NAMED], *([say("{n} more", n=more)] if more > 0 else [])])


def _bytes(an_operation: float | None) -> str:
    return _NOTHING if an_operation is None else f"{an_operation:,.1f}"
