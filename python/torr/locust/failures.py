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
    from torr import _engine

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


def raise_failure(call: _engine.Call, pool: Any, url: str, timeout: Any) -> NoReturn:
    """Raise what urllib3 raises when an exchange fails before its head has come."""
    reason = call.failure or ""
    kind = reason.partition(".")[0]
    if kind == "connect":
        _raise_unconnected(reason, pool, url)
    if reason in ("timeout.connect", "timeout.tls", "timeout.queue"):
        text = f"Connection to {pool.host} timed out. (connect timeout={timeout[0]})"
        late = exceptions.ConnectTimeoutError(pool.connection, text)
        raise exceptions.MaxRetryError(pool, url, late)
    if kind == "timeout":
        text = f"Read timed out. (read timeout={timeout[1]})"
        raise exceptions.ReadTimeoutError(pool, url, text)
    if kind == "tls":
        try:
            raise insecure(reason, call.detail or "")
        except ssl.SSLError as error:
            refused = exceptions.SSLError(error)
            raise exceptions.MaxRetryError(pool, url, refused) from error
    if reason == "protocol.bad_content_length":
        raise exceptions.InvalidHeader(f"Content-Length: {call.detail}")
    if kind == "protocol":
        replay(call.raw())
    raise_broken(reason)


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
        try:
            raise exceptions.NewConnectionError(pool.connection, text) from error
        except exceptions.NewConnectionError as unconnected:
            raise exceptions.MaxRetryError(pool, url, unconnected) from unconnected
