"""The errors that a failed exchange raises: those of urllib3, which requests converts to its own.

Their texts are those of the replaced libraries, so that failures are grouped as before.

"""

from __future__ import annotations

import http.client
import io
import ssl
from types import SimpleNamespace
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
    f"tls.{name}"
    for name in (
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
    """Raise the error that urllib3 raises when an exchange fails before its head has come."""
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
    """Raise the error that urllib3 raises of a connection that broke within the head."""
    try:
        raise broken(reason)
    except (OSError, http.client.HTTPException) as error:
        raise exceptions.ProtocolError(ABORTED, error) from error


def insecure(reason: str, detail: str) -> ssl.SSLError:
    """Return the error of a TLS layer that could not be set up."""
    text = f"[{reason}] {detail}"
    if reason == "tls.closed":
        return ssl.SSLEOFError(ssl.SSL_ERROR_EOF, text)
    if reason in CERTIFICATE:
        return ssl.SSLCertVerificationError(1, text)
    return ssl.SSLError(1, text)


def replay(head: bytes) -> None:
    """Have http.client parse a head, and raise its error as urllib3 does."""
    parser: Any = http.client.HTTPResponse
    try:
        parser(SimpleNamespace(makefile=lambda *_: io.BytesIO(head))).begin()
    except http.client.HTTPException as error:
        raise exceptions.ProtocolError(ABORTED, error) from error


def broken(reason: str) -> Exception:
    """Return the error of the socket, or of http.client, behind a broken connection."""
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
    kind, number, message = ERRNO.get(reason, (OSError, 5, "Input/output error"))
    try:
        raise kind(number, message)
    except OSError as error:
        text = f"Failed to establish a new connection: [Errno {number}] {message}"
        _raise_tried(exceptions.NewConnectionError(pool.connection, text), pool, url)


def _raise_insecure(reason: str, error: ssl.SSLError, pool: Any, url: str) -> NoReturn:
    refused = exceptions.SSLError(error)
    if reason != "tls.refused":
        _raise_tried(refused, pool, url)
    # Python receives a refusal when it reads, after the handshake.
    try:
        raise error
    except ssl.SSLError:
        raise exceptions.MaxRetryError(pool, url, refused) from error


def _raise_tried(reason: exceptions.HTTPError, pool: Any, url: str) -> NoReturn:
    """Raise the error of a last try, caused by a reason; Locust looks for the cause."""
    try:
        raise reason
    except exceptions.HTTPError as error:
        raise exceptions.MaxRetryError(pool, url, error) from error
