"""What a candidate answers to its request, looked at once before it is measured.

The first exchange is kept. A second one over the same connection shows whether that is kept: only
of GET and HEAD, which change nothing at a server.
Nothing is judged: `expectation.py` says whether it is right, `differences.py` how candidates
differ. HTTP/1.1 over TCP, plain or TLS (certificates are not checked), or over a Unix socket;
streams that do not end are no answers.
"""

from __future__ import annotations

import hashlib
import http.client
import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr import __version__
from torr.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.request import Header, Request
    from torr.model.url import Url

SHOWN_BYTES = 200

_SAFE = frozenset({"GET", "HEAD"})

Framing = Literal["content-length", "chunked", "until close", "no body"]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: `body_start` is at most 200 bytes of it, `body_sha256` is of all.

    Names of headers are in lower case. `is_kept`: the connection served a second request, None
    where none was sent; `says_close`: the first answer announced that it would not.
    """

    status: int
    version: str
    headers: tuple[Header, ...]
    framing: Framing
    body_bytes: int
    body_sha256: str
    body_start: bytes
    is_kept: bool | None
    says_close: bool

    @property
    def content_type(self) -> str | None:
        """The value of its content-type."""
        return next((value for name, value in self.headers if name == "content-type"), None)

    @property
    def shown_body(self) -> str:
        """The body as messages show it."""
        text = repr(self.body_start.decode("utf-8", "replace"))
        return text if self.body_bytes <= SHOWN_BYTES else f"{text}… ({self.body_bytes:,} bytes)"


def ask(request: Request, timeout_s: float = 10.0, *, twice: bool = True) -> Answer:
    """Send the request, and a GET or HEAD again over the same connection; what came back.

    Raises OSError (TimeoutError when all of it took longer than `timeout_s`) or
    http.client.HTTPException when there is no whole answer to the first.
    """
    if request.template:
        raise UsageError(
            f"{request.url}: a template has no one answer that could be compared",
            "give an address without {{…}} to be checked",
        )
    connection = _connection(request.place, timeout_s)
    with _bounded(connection, timeout_s) as is_late:
        first = _exchange(connection, request)
        body = first.read()
        if is_late.is_set():  # a head or a body without a length ends with the connection
            raise ConnectionAbortedError
        says_close = "close" in (first.getheader("connection") or "").lower()
        is_kept = None
        if first.will_close:
            is_kept = False
        elif twice and request.method.upper() in _SAFE:
            is_kept = _is_kept(connection, request)
    return Answer(
        status=first.status,
        version="HTTP/1.0" if first.version == 10 else "HTTP/1.1",
        headers=tuple((name.lower(), value) for name, value in first.getheaders()),
        framing=_framing(first, request.method),
        body_bytes=len(body),
        body_sha256=hashlib.sha256(body).hexdigest(),
        body_start=body[:SHOWN_BYTES],
        is_kept=is_kept,
        says_close=says_close,
    )


class _UnixConnection(http.client.HTTPConnection):
    """A connection to a socket of this machine."""

    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        """Connect; raises OSError."""
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.settimeout(self.timeout)
            sock.connect(self._path)
        except BaseException:
            sock.close()
            raise
        self.sock = sock


def _connection(place: Url, timeout_s: float) -> http.client.HTTPConnection:
    if place.socket is not None:
        return _UnixConnection(place.socket, timeout_s)
    host = place.host.strip("[]")
    if place.scheme == "http":
        return http.client.HTTPConnection(host, place.port, timeout=timeout_s)
    import ssl

    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(host, place.port, timeout=timeout_s, context=context)


@contextmanager
def _bounded(connection: http.client.HTTPConnection, timeout_s: float) -> Iterator[threading.Event]:
    """Connect, and shut the socket when the block takes too long: bytes may drip for ever."""
    connection.connect()
    connection.auto_open = 0  # what was closed is not to be opened again unseen
    sock, is_late = connection.sock, threading.Event()

    def shut() -> None:
        is_late.set()
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)

    alarm = threading.Timer(timeout_s, shut)
    alarm.daemon = True
    alarm.start()
    try:
        yield is_late
    except (OSError, http.client.HTTPException) as error:
        # The socket's own patience, as long as the alarm's, may be over first.
        if is_late.is_set() or isinstance(error, TimeoutError):
            raise TimeoutError(f"no whole answer within {timeout_s:g} s") from error
        raise
    finally:
        alarm.cancel()
        connection.close()


def _exchange(connection: http.client.HTTPConnection, request: Request) -> http.client.HTTPResponse:
    asked = request.with_default_headers(__version__)
    connection.putrequest(
        asked.method,
        asked.place.target,
        skip_host=asked.has_header("host"),
        skip_accept_encoding=True,
    )
    for name, value in asked.headers:
        connection.putheader(name, value)
    if asked.body is not None and not asked.has_header("content-length"):
        connection.putheader("content-length", str(len(asked.body)))
    connection.endheaders(asked.body)
    return connection.getresponse()


def _is_kept(connection: http.client.HTTPConnection, request: Request) -> bool:
    """Whether the connection serves one more: some servers close it without a word."""
    try:
        _exchange(connection, request).read()
    except (OSError, http.client.HTTPException):
        return False
    return True


def _framing(response: http.client.HTTPResponse, method: str) -> Framing:
    if method.upper() == "HEAD" or response.status in {204, 304}:
        return "no body"
    if "chunked" in (response.getheader("transfer-encoding") or "").lower():
        return "chunked"
    return "until close" if response.getheader("content-length") is None else "content-length"
