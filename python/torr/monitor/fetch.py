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
    from socket import socket

    from torr.model.url import Url

CONNECT_S = 1.0
ANSWER_S = 2.0
"""How long an answer may take from when it is asked for, connecting included."""

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
        connection.connect()
        asked = url.target if target is None else target
        response, content = _answer(connection, asked, _headers(url), asked_s + ANSWER_S)
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


def _answer(
    connection: HTTPConnection, target: str, headers: dict[str, str], until_s: float
) -> tuple[HTTPResponse, bytes]:
    """What comes by then; nothing is waited for any longer, be it the head or a piece."""
    sock = connection.sock
    try:
        _wait_until(until_s, sock)
        connection.request("GET", target, headers=headers)
        with connection.getresponse() as response:
            return response, _content(response, sock, until_s)
    except TimeoutError as error:
        raise EndpointError(f"its answer takes longer than {ANSWER_S:g} s") from error


def _content(response: HTTPResponse, sock: socket, until_s: float) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := _piece(response, sock, until_s):
        size += len(piece)
        if size > MOST_BYTES:
            raise EndpointError(f"its answer is larger than {MOST_BYTES >> 20} MB")
        pieces.append(piece)
    return b"".join(pieces)


def _piece(response: HTTPResponse, sock: socket, until_s: float) -> bytes:
    if response.isclosed():  # as is its socket, once all was read
        return b""
    _wait_until(until_s, sock)
    return response.read1(1 << 16)


def _wait_until(until_s: float, sock: socket) -> None:
    """Have reads wait until then at most; raises TimeoutError where it is over."""
    left_s = until_s - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    sock.settimeout(left_s)
