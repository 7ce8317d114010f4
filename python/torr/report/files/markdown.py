"""summary.md: the verdict, how far to trust it, and the numbers, to paste into a ticket."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from torr.messages.say import chain, render, say
from torr.report.files import comparison_summary
from torr.report.files import markdown_parts as parts
from torr.report.tables import (
    flame_table,
    level_table,
    monitor_table,
    request_tables,
    stream_tables,
    verdict_table,
)
from torr.report.text import sentence, trust
from torr.report.view import view_tables
from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torr.messages.say import Language
    from torr.report.tables.cells import Table
    from torr.results.result import RunResult

_MOST_ROWS = 40
_MOST_FUNCTIONS = 10


def write(result: RunResult, directory: Path, language: Language = "en") -> list[Path]:
    """Write summary.md of a result."""
    path = directory / "summary.md"
    replace_bytes(path, text(result, language).encode())
    return [path]


def text(result: RunResult, language: Language = "en") -> str:
    """Return the summary in a language."""
    return "\n\n".join(render(part, language) for part in _parts(result)) + "\n"


def _parts(result: RunResult) -> Iterator[str]:
    yield chain("", ["# ", parts.plain(result.name)])
    yield chain("", ["**", parts.plain(sentence.verdict(result)), "**"])
    yield parts.plain(trust.trust(result))
    yield from _tables(result)
    yield from _profiles(result)
    if result.command:
        yield parts.fenced(shlex.join(result.command), "sh")
    made = f"torr {result.torr} {result.kind}"
    yield parts.plain(chain(" · ", [made, trust.when(result)]))


def _tables(result: RunResult) -> Iterator[str]:
    if result.kind == "diff":
        yield from parts.titled(say("Verdicts"), verdict_table.verdicts(result))
        yield from parts.titled(say("Limits"), verdict_table.limits(result))
        yield from parts.titled(say("Ratios"), level_table.ratios(result))
        return
    if result.kind == "micro":
        for title, content in view_tables.of_functions(result):
            yield from parts.titled(title, _short(content))
        return
    if result.kind == "compare":
        yield from comparison_summary.sections(result)
        return
    if len(result.levels) == 1:
        level = result.levels[0]
        yield from parts.titled(say("Times"), level_table.times(level))
        yield from parts.titled(say("Streams"), stream_tables.streams(level))
        yield from parts.titled(say("Tokens"), stream_tables.tokens(level))
        yield from parts.titled(say("Requests"), request_tables.requests(level))
        sockets = request_tables.sockets_of_requests(level)
        yield from parts.titled(say("Sockets of requests"), sockets)
        streamed = request_tables.streams_of_requests(level)
        yield from parts.titled(say("Streams of requests"), streamed)
        yield from parts.titled(say("Throughput"), level_table.throughput(level))
    else:
        yield from parts.titled(say("Levels"), level_table.levels(result))
        yield from parts.titled(say("Streams"), stream_tables.streams_of_levels(result))
        yield from parts.titled(say("Requests"), _short(request_tables.requests_of_levels(result)))
        streamed = request_tables.streams_of_requests_of_levels(result)
        yield from parts.titled(say("Streams of requests"), _short(streamed))
    yield from parts.titled(say("Capacity"), level_table.capacity(result))
    yield from parts.titled(say("Target and machine"), _short(monitor_table.of_levels(result)))
    yield from parts.titled(say("SLOs"), level_table.slos(result))
    yield from parts.titled(say("Errors"), level_table.errors(result))


def _profiles(result: RunResult) -> Iterator[str]:
    """What each profile came to, and the functions that come first in it."""
    yield from parts.items(say("Profiles"), flame_table.notes(result))
    for title, content in flame_table.top_functions(result, _MOST_FUNCTIONS):
        yield from parts.titled(parts.plain(title), content)


def _short(content: Table | None) -> Table | None:
    """A table that a ticket has room for, or none: the page has it whole."""
    return content if content is None or len(content.rows) <= _MOST_ROWS else None
