"""One bounded GET of somebody's numbers: short, small, and never redirected.

Raises EndpointError with what happened, whatever it was. Load is not sent this way.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.model.request import basic

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

    from torr.model.url import Url

CONNECT_S = 1.0
ANSWER_S = 2.0
MOST_BYTES = 8 * 1024 * 1024


class EndpointError(Exception):
    """An endpoint did not tell its numbers; the text says why."""


@dataclass(frozen=True, slots=True)
class Page:
    """An answer, and when it was asked for and had come, on the monotonic clock."""

    content: bytes
    asked_s: float
    came_s: float

    @property
    def at_s(self) -> float:
        """When its numbers were taken, as near as can be known."""
        return (self.asked_s + self.came_s) / 2


def fetch(url: Url, target: str | None = None) -> Page:
    """Ask for a URL, or for another target at its place; only a 200 is an answer."""
    from http.client import HTTPException

    asked_s = time.monotonic()
    connection = _connection(url)
    try:
        connection.request("GET", url.target if target is None else target, headers=_headers(url))
        with connection.getresponse() as response:
            content = _content(response, asked_s + ANSWER_S)
    except (OSError, HTTPException) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise EndpointError(why) from error
    finally:
        connection.close()
    if response.status != 200:
        raise EndpointError(f"it answers {response.status} {response.reason}")
    return Page(content, asked_s, time.monotonic())


def _connection(url: Url) -> HTTPConnection:
    from http.client import HTTPConnection, HTTPSConnection

    host = url.host.strip("[]")
    if url.scheme == "https":
        return HTTPSConnection(host, url.port, timeout=CONNECT_S)
    return HTTPConnection(host, url.port, timeout=CONNECT_S)


def _headers(url: Url) -> dict[str, str]:
    headers = {"accept": "text/plain, application/json", "connection": "close"}
    if url.userinfo is not None:
        user, _, password = url.userinfo.partition(":")
        headers |= dict([basic(user, password)])
    return headers


def _content(response: HTTPResponse, until_s: float) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(1 << 16):
        size += len(piece)
        if size > MOST_BYTES:
            raise EndpointError(f"its answer is larger than {MOST_BYTES >> 20} MB")
        if time.monotonic() > until_s:
            raise EndpointError(f"its answer takes longer than {ANSWER_S:g} s")
        pieces.append(piece)
    return b"".join(pieces)
