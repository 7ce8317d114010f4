"""What a failed exchange raises: the errors of urllib3, which requests turns into its own.

The words are those of the libraries that it stands in for, so that failures group as they did.
"""

from __future__ import annotations

import http.client
import io
import ssl
from typing import TYPE_CHECKING, Any, NoReturn

from urllib3 import exceptions

if TYPE_CHECKING:
    from torr.locust.reactor import Call

ERRNO = {
    "connect.refused": (ConnectionRefusedError, 111, "Connection refused"),
    "connect.unreachable": (OSError, 113, "No route to host"),
    "connect.reset": (ConnectionResetError, 104, "Connection reset by peer"),
    "connect.no_port": (OSError, 99, "Cannot assign requested address"),
    "connect.no_descriptor": (OSError, 24, "Too many open files"),
    "connect.no_buffer": (OSError, 105, "No buffer space available"),
}
CLOSED = ("read.closed", "read.closed_on_reuse")
CERTIFICATE = frozenset(
    f"tls.{word}"
    for word in (
        "expired",
        "not_yet_valid",
        "wrong_host",
        "unknown_issuer",
        "authority_as_server",
        "bad_certificate",
    )
)
ABORTED = "Connection aborted."


def raise_failure(call: Call, pool: Any, url: str, timeout: Any) -> NoReturn:
    """Raise what urllib3 raises when an exchange fails before its head has come."""
    reason = call.failure or ""
    kind = reason.partition(".")[0]
    if kind == "connect":
        _raise_unconnected(reason, pool, url)
    if reason in ("timeout.connect", "timeout.tls", "timeout.queue"):
        text = f"Connection to {pool.host} timed out. (connect timeout={timeout[0]})"
        _raise_tried(exceptions.ConnectTimeoutError(pool.connection, text), pool, url)
    if kind == "timeout":
        text = f"Read timed out. (read timeout={timeout[1]})"
        raise exceptions.ReadTimeoutError(pool, url, text)
    if kind == "tls":
        _raise_insecure(reason, insecure(reason, call.detail or ""), pool, url)
    if reason == "protocol.bad_content_length":
        raise exceptions.InvalidHeader(f"Content-Length: {call.detail}")
    if kind == "protocol":
        replay(call.raw())
    raise_broken("read.reset" if call.was_reset else reason)


def raise_broken(reason: str) -> NoReturn:
    """Raise what urllib3 raises of a connection that broke before the head was whole."""
    try:
        raise broken(reason)
    except (OSError, http.client.HTTPException) as error:
        raise exceptions.ProtocolError(ABORTED, error) from error


def insecure(reason: str, detail: str) -> ssl.SSLError:
    """The error of a secure layer that did not come about."""
    text = f"[{reason}] {detail}"
    if reason == "tls.closed":
        return ssl.SSLEOFError(ssl.SSL_ERROR_EOF, text)
    if reason in CERTIFICATE:
        return ssl.SSLCertVerificationError(1, text)
    return ssl.SSLError(1, text)


def replay(head: bytes) -> None:
    """Have http.client read a head, which has its own words for what is wrong with it."""
    answer_of: Any = http.client.HTTPResponse
    try:
        answer_of(Wire(head)).begin()
    except http.client.HTTPException as error:
        raise exceptions.ProtocolError(ABORTED, error) from error


class Wire:
    """A socket that has brought these bytes and nothing more."""

    def __init__(self, brought: bytes) -> None:
        self._brought = brought

    def makefile(self, *_: object) -> io.BytesIO:
        """The bytes as a file."""
        return io.BytesIO(self._brought)


def broken(reason: str) -> Exception:
    """The error of the socket, or of http.client, behind a broken connection."""
    if reason in CLOSED:
        return http.client.RemoteDisconnected("Remote end closed connection without response")
    if reason == "write.closed":
        return BrokenPipeError(32, "Broken pipe")
    if "reset" in reason:
        return ConnectionResetError(104, "Connection reset by peer")
    if reason == "read.no_memory":
        return OSError(12, "Cannot allocate memory")
    if reason == "protocol.head_too_large":
        return http.client.LineTooLong("header line")
    return http.client.BadStatusLine(reason)


def _raise_unconnected(reason: str, pool: Any, url: str) -> NoReturn:
    if reason == "connect.proxy":
        error: Exception = OSError("Tunnel connection failed")
        text = "Unable to connect to proxy"
        raise exceptions.MaxRetryError(pool, url, exceptions.ProxyError(text, error))
    kind, number, words = ERRNO.get(reason, (OSError, 5, "Input/output error"))
    try:
        raise kind(number, words)
    except OSError as error:
        text = f"Failed to establish a new connection: [Errno {number}] {words}"
        _raise_tried(exceptions.NewConnectionError(pool.connection, text), pool, url)


def _raise_insecure(reason: str, error: ssl.SSLError, pool: Any, url: str) -> NoReturn:
    refused = exceptions.SSLError(error)
    if reason != "tls.refused":
        _raise_tried(refused, pool, url)
    # Python hears of a refusal when it reads, after the handshake.
    try:
        raise error
    except ssl.SSLError:
        raise exceptions.MaxRetryError(pool, url, refused) from error


def _raise_tried(reason: exceptions.HTTPError, pool: Any, url: str) -> NoReturn:
    """Raise what comes of a reason when it was the last try; Locust looks for what it came from."""
    try:
        raise reason
    except exceptions.HTTPError as error:
        raise exceptions.MaxRetryError(pool, url, error) from error
