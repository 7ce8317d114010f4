"""summary.md: the verdict, how far to trust it, and the numbers, to paste into a ticket."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.report import request_tables, sentence, stream_tables, table, trust, verdict_table
from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from torr.report.cells import Table

_MOST_ROWS = 40
_SPECIAL = re.compile(r"([\\`*\[\]<>|#]|\b_|_\b|(?<!\w)_(?!\w))")


def write(result: dict[str, Any], directory: Path) -> list[Path]:
    """Write summary.md of a result."""
    path = directory / "summary.md"
    replace_bytes(path, text(result).encode())
    return [path]


def text(result: Mapping[str, Any]) -> str:
    """Return the summary."""
    return "\n\n".join(_parts(result)) + "\n"


def _parts(result: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {_plain(result['name'])}"
    yield f"**{_plain(sentence.verdict(result))}**"
    yield _plain(trust.trust(result))
    yield from _tables(result)
    if result.get("command"):
        command = shlex.join(result["command"])
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0))
        yield f"{fence}sh\n{command}\n{fence}"
    yield _plain(f"torr {result.get('torr', '')} {result['kind']} · {trust.when(result)}")


def _tables(result: Mapping[str, Any]) -> Iterator[str]:
    if result["kind"] == "diff":
        yield from _titled("Verdicts", verdict_table.verdicts(result))
        yield from _titled("Limits", verdict_table.limits(result))
        yield from _titled("Ratios", table.ratios(result))
        return
    if len(result["levels"]) == 1:
        yield from _titled("Times", table.times(result["levels"][0]))
        yield from _titled("Streams", stream_tables.streams(result["levels"][0]))
        yield from _titled("Tokens", stream_tables.tokens(result["levels"][0]))
        yield from _titled("Requests", request_tables.requests(result["levels"][0]))
        yield from _titled(
            "Sockets of requests", request_tables.sockets_of_requests(result["levels"][0])
        )
        yield from _titled(
            "Streams of requests", request_tables.streams_of_requests(result["levels"][0])
        )
        yield from _titled("Throughput", table.throughput(result["levels"][0]))
    else:
        yield from _titled("Levels", table.levels(result))
        yield from _titled("Streams", stream_tables.streams_of_levels(result))
        yield from _titled("Requests", _short(request_tables.requests_of_levels(result)))
        streamed = request_tables.streams_of_requests_of_levels(result)
        yield from _titled("Streams of requests", _short(streamed))
    yield from _titled("Capacity", table.capacity(result))
    yield from _titled("SLOs", table.slos(result))
    yield from _titled("Errors", table.errors(result))


def _short(content: Table | None) -> Table | None:
    """A table that a ticket has room for, or none: the page has it whole."""
    return content if content is None or len(content.rows) <= _MOST_ROWS else None


def _titled(title: str, content: Table | None) -> Iterator[str]:
    if content is not None:
        yield f"## {title}"
        yield _table(content)


def _table(content: Table) -> str:
    rules = ["---" if at in content.words else "--:" for at in range(len(content.columns))]
    lines = [content.columns, tuple(rules), *content.rows]
    return "\n".join(
        f"| {' | '.join(cell if line is lines[1] else _plain(cell) for cell in line)} |"
        for line in lines
    )


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
