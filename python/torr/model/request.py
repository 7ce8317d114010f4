"""A request: what is sent, how long its answer may take, which statuses are accepted."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace
from typing import Any

from torr.errors import require
from torr.model.secrets import REDACTED, is_secret, redacted_text
from torr.model.url import Url
from torr.units import SECOND_NS

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAKS = re.compile(r"[\r\n\x00]")

Json = dict[str, Any]
Header = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, how long its answer may take and which statuses are accepted."""

    url: str
    method: str = "GET"
    headers: tuple[Header, ...] = ()
    body: bytes | None = None
    timeout_ns: int = 30 * SECOND_NS
    accept_statuses: tuple[tuple[int, int], ...] = ((200, 399),)
    name: str = ""

    def __post_init__(self) -> None:
        """Check the parts; a user and password in the URL become a header."""
        check_method(self.method)
        for header in self.headers:
            check_header(header)
        require(self.timeout_ns > 0, "the timeout must be longer than 0")
        url = Url.parse(self.url)
        object.__setattr__(self, "url", str(url))
        object.__setattr__(self, "name", self.name or f"{self.method} {url.path}")
        if url.userinfo is not None and not self._has_header("authorization"):
            object.__setattr__(self, "headers", (*self.headers, _of_userinfo(url.userinfo)))

    def with_default_headers(self, version: str) -> Request:
        """The same with `user-agent` and `accept`, where the user gave none."""
        defaults = (("user-agent", f"torr/{version}"), ("accept", "*/*"))
        missing = tuple(header for header in defaults if not self._has_header(header[0]))
        return replace(self, headers=(*missing, *self.headers))

    def _has_header(self, name: str) -> bool:
        return any(key.lower() == name for key, _ in self.headers)

    def as_json(self) -> Json:
        """The contract's `request`."""
        return {
            "name": self.name,
            "method": self.method,
            "url": self.url,
            "headers": [list(header) for header in self.headers],
            "body": None if self.body is None else base64.b64encode(self.body).decode("ascii"),
            "timeout_ns": self.timeout_ns,
            "accept_statuses": [list(span) for span in self.accept_statuses],
        }

    def redacted(self) -> Request:
        """The same without what must not be written to disk."""
        headers = tuple((k, REDACTED if is_secret(k) else v) for k, v in self.headers)
        body = self.body
        if body is not None:
            # latin-1 maps every byte to one character and back, so a binary body survives.
            body = redacted_text(body.decode("latin-1")).encode("latin-1")
        return replace(self, url=redacted_text(self.url), headers=headers, body=body)


def check_method(method: str) -> None:
    """Refuse what is not a method; raises UsageError."""
    require(bool(_TOKEN.fullmatch(method)), f"method {method!r} is not a word such as GET")
    require(
        method.upper() != "CONNECT", "method CONNECT asks for a tunnel, which torr does not dig"
    )


def check_header(header: Header) -> None:
    """Refuse a header that would not stay one header; raises UsageError."""
    name, value = header
    require(bool(_TOKEN.fullmatch(name)), f"header name {name!r} is not a word such as x-user")
    require(not _BREAKS.search(value), f"header {name!r} contains a newline: a header is one line")


def basic(user: str, password: str) -> Header:
    """Return the header of HTTP's basic authentication (RFC 7617)."""
    return _authorization(f"{user}:{password}".encode())


def _of_userinfo(userinfo: str) -> Header:
    from urllib.parse import unquote_to_bytes

    return _authorization(unquote_to_bytes(userinfo))


def _authorization(pair: bytes) -> Header:
    return "authorization", "Basic " + base64.b64encode(pair).decode("ascii")
