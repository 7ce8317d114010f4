"""Lines of functions for people: how often each ran, and what share of the time it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import Text, say
from torr.report.data.function_names import names
from torr.report.tables.cells import Table
from torr.units import show_percent, show_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.results.profile import ProfiledLine
    from torr.results.result import RunResult

_NS_PER_MS = 1e6


def tables(result: RunResult) -> Iterator[tuple[Text, Table]]:
    """Return a table a profile of lines, in the order of the source."""
    name_of = names(result)
    for profile in result.profiles:
        if profile.lines:
            title = say(
                "Lines by time, by {tool}: {whose}", tool=profile.tool, whose=name_of(profile)
            )
            yield title, _table(profile.lines)


def _table(lines: Sequence[ProfiledLine]) -> Table:
    whole = sum(line.ns for line in lines) or 1
    columns = (say("line"), say("code"), say("times"), say("in all"), say("each"), say("share"))
    rows = tuple(
        (
            line.location,
            line.code,
            f"{line.hits:,}",
            show_time(line.ns / _NS_PER_MS),
            show_time(line.ns / line.hits / _NS_PER_MS) if line.hits else "–",
            show_percent(round(100 * line.ns / whole, 1)),
        )
        for line in lines
    )
    return Table(columns, rows, frozenset({0, 1}), frozenset({1}))
