"""Lines of functions: how often each ran, and what share of the time it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import Text, say
from torr.report.data.function_names import names
from torr.report.tables.table import Table, TableBuilder
from torr.units import show_percent, show_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.results.profile import ProfiledLine
    from torr.results.result import RunResult

_NS_PER_MS = 1e6


def tables(result: RunResult) -> Iterator[tuple[Text, Table | None]]:
    """Return a table, with its title, for each profile of lines, in the order of the source."""
    name_of = names(result)
    for profile in result.profiles:
        if profile.lines:
            about = {"tool": profile.tool, "whose": name_of(profile)}
            yield say("Lines by time, by {tool}: {whose}", **about), _table(profile.lines)


def _table(lines: Sequence[ProfiledLine]) -> Table | None:
    whole = sum(line.ns for line in lines) or 1
    table = TableBuilder(lines)
    table.text(say("line"), lambda line: line.location)
    table.text(say("code"), lambda line: line.code, breaks=True)
    table.number(say("times"), lambda line: f"{line.hits:,}")
    table.number(say("in all"), lambda line: show_time(line.ns / _NS_PER_MS))
    table.number(
        say("each"), lambda line: show_time(line.ns / line.hits / _NS_PER_MS if line.hits else None)
    )
    table.number(say("share"), lambda line: show_percent(round(100 * line.ns / whole, 1)))
    return table.build()
