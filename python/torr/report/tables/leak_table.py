"""The leak table: the objects and memory that functions did not free, beside their limits.

A function with a limit is judged by the number of objects that Python's garbage collector tracks,
any other by whether growth goes on. Texts, bytes and numbers are not tracked: they are in the
blocks and bytes alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.function_names import names
from torr.report.data.result_words import word_text
from torr.report.tables.table import Table, TableBuilder

if TYPE_CHECKING:
    from torr.results.functions import LeakTable
    from torr.results.result import RunResult

_MOST_TYPES = 3


def table(result: RunResult) -> Table | None:
    """Return one row a function whose memory was watched."""
    leaks = TableBuilder(result.leaks)
    leaks.text(say("function"), names(result), breaks=True)
    leaks.number(say("operations"), lambda leak: f"{leak.count:,}")
    leaks.text(say("target"), _target)
    leaks.number(say("tracked objects"), lambda leak: f"{leak.growth:+,}")
    leaks.number(say("blocks an operation"), lambda leak: f"{leak.per_operation:.2g}")
    leaks.number(say("bytes an operation"), lambda leak: _bytes(leak.traced_per_operation))
    leaks.number(say("RSS an operation"), lambda leak: _bytes(leak.rss_per_operation))
    leaks.text(say("verdict"), lambda leak: say("met") if leak.met else say("missed"))
    leaks.text(say("growth"), lambda leak: word_text(leak.word))
    leaks.text(say("most of them"), _types)
    return leaks.build()


def _target(leak: LeakTable) -> str:
    if leak.limit is None:
        return say("growth ends")
    return say("objects ≤ {limit}", limit=f"{leak.limit:+,}")


def _types(leak: LeakTable) -> str:
    if leak.growth <= 0:  # texts, bytes and numbers are not tracked
        return ""
    most = leak.types[:_MOST_TYPES]
    return ", ".join(f"{count:+,} {kind}" for kind, count in most if count > 0)


def _bytes(per_operation: float | None) -> str:
    return "–" if per_operation is None else f"{per_operation:,.1f}"
