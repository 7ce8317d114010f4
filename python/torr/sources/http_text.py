"""Requests in vegeta's `http` format, which is written by hand.

    # a comment
    POST http://localhost:8080/items
    Content-Type: application/json
    @item.json

    GET /items/7

A line with a method and a URL begins a request; headers follow, then `@` and the file of the body:
a path relative to the requests file or else to the current directory.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.say import say
from torr.model.outside_file import read_bounded
from torr.model.request import check_header, check_method
from torr.sources.entry import Entry, errors_at

if TYPE_CHECKING:
    from collections.abc import Iterator

_REQUEST = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]+(\S.*)")
_HEADER = re.compile(r"([^\s:]+)[ \t]*:[ \t]*(.*)")
_HINT = say(
    "write `GET http://localhost:8080/`, then headers as `Name: value` and @FILE for a body"
)


def read(path: Path, text: str) -> Iterator[Entry]:
    """Yield every request of the text; raise FileError."""
    entry: Entry | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()  # noqa: PLW2901
        if not line:
            # A blank line ends a request; what follows must begin another one.
            if entry is not None:
                yield entry
            entry = None
            continue
        if line.startswith("#"):
            continue
        with errors_at(path, number):
            next_entry = _request_of(path, number, line)
            if next_entry is None:
                entry = _with_line(entry, line)
                continue
        if entry is not None:
            yield entry
        entry = next_entry
    if entry is not None:
        yield entry


def _request_of(path: Path, number: int, line: str) -> Entry | None:
    match = _REQUEST.fullmatch(line)
    if match is None:
        return None
    check_method(match[1])
    return Entry(path, number, match[2], match[1])


def _with_line(entry: Entry | None, line: str) -> Entry:
    """Return the request with another line of it."""
    if entry is None:
        raise UsageError(say("{line!r} does not begin a request", line=_short(line)), _HINT)
    if line.startswith("@"):
        if entry.body is not None:
            raise UsageError(
                say("the request has a body already"), say("begin the next request with its method")
            )
        return replace(entry, body=_content(entry.path.parent, line[1:].strip()))
    match = _HEADER.fullmatch(line)
    if match is None:
        raise UsageError(say("{line!r} is not a header", line=_short(line)), _HINT)
    header = (match[1], match[2])
    check_header(header)
    return replace(entry, headers=(*entry.headers, header))


def _content(folder: Path, name: str) -> bytes:
    beside = folder / name
    try:
        return read_bounded(beside if beside.exists() else Path(name))
    except OSError as error:
        raise UsageError(
            say("the body {name} cannot be read: {strerror}", name=name, strerror=error.strerror),
            say("torr looks for it beside the requests file, then in the current directory"),
        ) from error


def _short(line: str) -> str:
    return line if len(line) <= 40 else f"{line[:39]}…"
