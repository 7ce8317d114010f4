"""Requests of a HAR file, which browsers and proxies record.

Headers of the recorded connection are left out, such as `host` and `content-length`, and so are
pseudo headers of HTTP/2. Cookies stay as recorded. Entries that are not requests over HTTP
(`data:`, `blob:`, `ws:`) are left out and counted.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.request import check_header, check_method
from torr.sources.entry import Entry

if TYPE_CHECKING:
    from pathlib import Path

    from torr.model.request import Header

# Headers that torr writes itself for its own connection (RFC 9110, 7.6.1).
TRANSPORT = frozenset(
    (
        *("host", "content-length", "connection", "keep-alive", "te", "trailer", "upgrade"),
        *("transfer-encoding", "proxy-connection", "proxy-authorization"),
    )
)


def read(path: Path, document: dict[str, Any]) -> tuple[list[Entry], int]:
    """Return every request of the document and the number of left out entries."""
    recorded = document["log"]["entries"]
    require(isinstance(recorded, list), say("{path}: log.entries is not a list", path=path))
    requests = [_read_one(path, number, entry) for number, entry in enumerate(recorded, start=1)]
    entries = [entry for entry in requests if entry is not None]
    return entries, len(requests) - len(entries)


def _read_one(path: Path, number: int, recorded: dict[str, Any]) -> Entry | None:
    """Return the request of an entry, None if it is not sent over HTTP.

    Lines of a HAR file say little: messages name the number of the entry, counted from 1.
    """
    try:
        request = recorded["request"]
        return _entry(path, number, request) if _is_http(_text(request["url"])) else None
    except UsageError as error:
        raise UsageError(
            say(
                "{path}: entry {number}: {message}", path=path, number=number, message=error.message
            ),
            error.hint,
        ) from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(
            say("{path}: entry {number} is not an entry of a HAR file", path=path, number=number),
            say("export the file again"),
        ) from error


def _is_http(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _entry(path: Path, number: int, request: dict[str, Any]) -> Entry:
    check_method(_text(request["method"]))
    headers = tuple(_headers(request.get("headers", [])))
    body = _body(request.get("postData"))
    if body is not None and not any(name.lower() == "content-type" for name, _ in headers):
        kind = request["postData"].get("mimeType")
        headers = (*headers, *_headers([{"name": "content-type", "value": kind}] if kind else []))
    return Entry(path, number, request["url"], request["method"], headers, body)


def _headers(recorded: list[dict[str, str]]) -> list[Header]:
    headers = []
    for header in recorded:
        name, value = _text(header["name"]), _text(header["value"])
        if name.startswith(":") or name.lower() in TRANSPORT:
            continue
        check_header((name, value))
        headers.append((name, value))
    return headers


def _body(posted: dict[str, Any] | None) -> bytes | None:
    if not posted:
        return None
    text = posted.get("text")
    if text is None:
        fields = [
            (_text(field["name"]), _text(field.get("value", "")))
            for field in posted.get("params", [])
        ]
        return urlencode(fields).encode() if fields else None
    if posted.get("encoding") != "base64":
        return _text(text).encode()
    try:
        return base64.b64decode(_text(text), validate=True)
    except ValueError as error:
        raise UsageError(say("its body is not base64: {error}", error=error)) from error


def _text(value: object) -> str:
    """Return a member that has to be a text; raises TypeError."""
    if isinstance(value, str):
        return value
    raise TypeError(f"{value!r} is not a text")
