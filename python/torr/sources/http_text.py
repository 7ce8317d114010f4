"""Requests in vegeta's `http` format, which people write by hand.

    # a comment
    POST http://localhost:8080/items
    Content-Type: application/json
    @item.json

    GET /items/7

A line with a method and a URL begins a request; headers follow, then `@` and the file of the body,
which is looked for beside the requests file and then in the current directory.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.model.outside_file import read_bounded
from torr.model.request import check_header, check_method
from torr.sources.entry import Entry, at

if TYPE_CHECKING:
    from collections.abc import Iterator

_REQUEST = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]+(\S.*)")
_HEADER = re.compile(r"([^\s:]+)[ \t]*:[ \t]*(.*)")
_HINT = "write `GET http://localhost:8080/`, then headers as `Name: value` and @FILE for a body"


def read(path: Path, text: str) -> Iterator[Entry]:
    """Every request of the text; raises FileError."""
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
        with at(path, number):
            begun = _begun(path, number, line)
            if begun is None:
                entry = _continued(entry, line)
                continue
        if entry is not None:
            yield entry
        entry = begun
    if entry is not None:
        yield entry


def _begun(path: Path, number: int, line: str) -> Entry | None:
    found = _REQUEST.fullmatch(line)
    if found is None:
        return None
    check_method(found[1])
    return Entry(path, number, found[2], found[1])


def _continued(entry: Entry | None, line: str) -> Entry:
    """The request with one more line of its own."""
    if entry is None:
        raise UsageError(f"{_short(line)!r} begins no request", _HINT)
    if line.startswith("@"):
        if entry.body is not None:
            raise UsageError("the request has a body already", "begin the next one by its method")
        return replace(entry, body=_content(entry.path.parent, line[1:].strip()))
    found = _HEADER.fullmatch(line)
    if found is None:
        raise UsageError(f"{_short(line)!r} is no header", _HINT)
    header = (found[1], found[2])
    check_header(header)
    return replace(entry, headers=(*entry.headers, header))


def _content(folder: Path, name: str) -> bytes:
    beside = folder / name
    try:
        return read_bounded(beside if beside.exists() else Path(name))
    except OSError as error:
        raise UsageError(
            f"the body {name} cannot be read: {error.strerror}",
            "it is looked for beside the requests file, then in the current directory",
        ) from error


def _short(line: str) -> str:
    return line if len(line) <= 40 else f"{line[:39]}…"
