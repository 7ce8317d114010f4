"""Reader of requests files: HAR, JSON lines or vegeta's `http` text, by file ending and content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import FileError, require
from torr.messages.say import say
from torr.model.json_input import parse_json_to_send
from torr.model.outside_file import read_text
from torr.sources import har, http_text, json_lines

if TYPE_CHECKING:
    from pathlib import Path

    from torr.sources.entry import Entry


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a file, and how many of its entries were left out."""

    entries: tuple[Entry, ...]
    left_out: int = 0


def read_requests(path: Path) -> Requests:
    """Return every request of a file; raise FileError, or UsageError without a line."""
    text = read_text(path)
    if path.suffix.lower() != ".http" and text.lstrip()[:1] == "{":
        requests = _of_json(path, text)
    else:
        requests = Requests(tuple(http_text.read(path, text)))
    _require_one(path, bool(requests.entries), "write `GET http://localhost:8080/` or JSON lines")
    return requests


def _of_json(path: Path, text: str) -> Requests:
    """Return the requests of a HAR document, or of JSON lines."""
    is_har = path.suffix.lower() == ".har"
    try:
        document = parse_json_to_send(text)
    except ValueError as error:
        if is_har:
            line = getattr(error.__cause__, "lineno", 1)
            raise FileError(path, line, str(error), say("export the file again")) from error
        document = None
    if isinstance(document, dict) and isinstance(document.get("log"), dict):
        require(
            "entries" in document["log"],
            say("{path}: the log of a HAR file has no entries", path=path),
        )
        entries, left_out = har.read(path, document)
        none = f"none of its {left_out:,} entries is http" if left_out else "log.entries is empty"
        _require_one(path, bool(entries), f"{none}: record the page again, and export it as HAR")
        return Requests(tuple(entries), left_out)
    require(not is_har, say("{path}: not a HAR file: there are no log.entries", path=path))
    return Requests(tuple(json_lines.read(path, text)))


def _require_one(path: Path, is_there: bool, hint: str) -> None:
    require(is_there, say("{path}: there is no request in it", path=path), hint)
