"""Fetch a candidate's answer to its request once, before the candidate is measured.

A second exchange over the same connection shows whether the server keeps connections open; it is
sent for GET and HEAD only, which change nothing at a server. `expectation.py` checks the response,
`differences.py` compares those of several candidates. HTTP/1.1 over TCP, plain or TLS (certificates
are not checked), or over a Unix socket; a stream without an end is an error. Responses to calls of
gRPC and to chats are those of the engine.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from torr import __version__
from torr.errors import UsageError
from torr.grpc.status import OK, status_of
from torr.http_client import Connection
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.http_client import Response
    from torr.model.request import Header, Request
    from torr.results.exchange import Exchange, ResponseHead

SHOWN_BYTES = 200

_SAFE = frozenset({"GET", "HEAD"})

Framing = Literal["content-length", "chunked", "until close", "no body", "frames"]


@dataclass(frozen=True, slots=True)
class ResponseDigest:
    """A response: `body_start` is its first 200 bytes at most, `body_sha256` is of the whole body.

    With `is_generated`, a model wrote the body, so that no two are the same.
    Names of headers are in lower case. `is_reused`: the connection served a second request, None
    where none was sent. `says_close`: the first response had `connection: close`.
    """

    status: int
    version: str
    headers: tuple[Header, ...]
    framing: Framing
    body_bytes: int
    body_sha256: str
    body_start: bytes
    is_reused: bool | None
    says_close: bool
    is_generated: bool = False

    @property
    def content_type(self) -> str | None:
        """Return the value of the content-type header."""
        return next((value for name, value in self.headers if name == "content-type"), None)

    @property
    def shown_body(self) -> str:
        """Return the body as messages show it."""
        text = repr(self.body_start.decode("utf-8", "replace"))
        return text if self.body_bytes <= SHOWN_BYTES else f"{text}… ({self.body_bytes:,} bytes)"


def digest_of_call(exchange: Exchange) -> ResponseDigest:
    """Return the response to a call of gRPC; raise OSError unless it is complete and OK."""
    status = status_of(exchange)
    if status is not None and status.code != OK:
        raise ConnectionError(f"the call ended with {status.text}")
    if status is None or exchange.head is None:
        raise ConnectionError(exchange.reason or exchange.error_class)
    return _digest_of(exchange, exchange.head)


def digest_of(exchange: Exchange, *, is_generated: bool) -> ResponseDigest:
    """Return the response of a model, or to a message; raise OSError unless it is complete."""
    if not exchange.is_answered or exchange.head is None:
        raise ConnectionError(exchange.reason or exchange.error_class)
    return replace(_digest_of(exchange, exchange.head), is_generated=is_generated)


def _digest_of(exchange: Exchange, head: ResponseHead) -> ResponseDigest:
    headers = tuple((name.lower(), value) for name, value in head.fields)
    fields = dict(reversed(headers))
    return ResponseDigest(
        status=head.status,
        version=head.version,
        headers=headers,
        framing="frames" if head.version == "2" else _framing_of(fields),
        body_bytes=len(exchange.body),
        body_sha256=hashlib.sha256(exchange.body).hexdigest(),
        body_start=exchange.body[:SHOWN_BYTES],
        is_reused=None,
        says_close="close" in fields.get("connection", "").lower(),
    )


def fetch_digest(
    request: Request, timeout_s: float = 10.0, *, check_reuse: bool = True
) -> ResponseDigest:
    """Send the request and return its response; send GET and HEAD again over the same connection.

    Raises OSError if the first response is incomplete, TimeoutError if both exchanges took longer
    than `timeout_s`.
    """
    if request.template:
        raise UsageError(
            say(
                "{url}: a template has no single response that torr could compare", url=request.url
            ),
            say("give an address without {{{{…}}}} to be checked"),
        )
    with Connection(request.parsed_url, timeout_s, verify=False) as connection:
        first = _exchange(connection, request)
        is_reused = None
        if first.will_close:
            is_reused = False
        elif check_reuse and request.method.upper() in _SAFE:
            is_reused = _is_reused(connection, request)
    return ResponseDigest(
        status=first.status,
        version=first.version,
        headers=first.headers,
        framing=_framing(first, request.method),
        body_bytes=len(first.body),
        body_sha256=hashlib.sha256(first.body).hexdigest(),
        body_start=first.body[:SHOWN_BYTES],
        is_reused=is_reused,
        says_close="close" in (first.header("connection") or "").lower(),
    )


def _exchange(connection: Connection, request: Request) -> Response:
    target = request.parsed_url.target
    request = request.with_default_headers(__version__)
    return connection.exchange(target, request.headers, method=request.method, body=request.body)


def _is_reused(connection: Connection, request: Request) -> bool:
    """Return whether the connection serves another request; some servers close it unannounced."""
    try:
        _exchange(connection, request)
    except OSError:
        return False
    return True


def _framing(first: Response, method: str) -> Framing:
    if method.upper() == "HEAD" or first.status in {204, 304}:
        return "no body"
    return _framing_of(dict(reversed(first.headers)))


def _framing_of(headers: Mapping[str, str]) -> Framing:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return "chunked"
    return "content-length" if "content-length" in headers else "until close"
