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
    """Raise the error that urllib3 raises when an exchange fails before its response head."""
    reason = call.failure or ""
    kind = reason.partition(".")[0]
    if kind == "connect":
        _raise_connect_error(reason, pool, url)
    if reason in ("timeout.connect", "timeout.tls", "timeout.queue"):
        text = f"Connection to {pool.host} timed out. (connect timeout={timeout[0]})"
        _raise_max_retries(exceptions.ConnectTimeoutError(pool.connection, text), pool, url)
    if kind == "timeout":
        text = f"Read timed out. (read timeout={timeout[1]})"
        raise exceptions.ReadTimeoutError(pool, url, text)
    if kind == "tls":
        _raise_tls_error(reason, tls_error(reason, call.detail or ""), pool, url)
    if reason == "protocol.bad_content_length":
        raise exceptions.InvalidHeader(f"Content-Length: {call.detail}")
    if kind == "protocol":
        raise_parser_error(call.excerpt())
    raise_connection_error("read.reset" if call.was_reset else reason)


def raise_connection_error(reason: str) -> NoReturn:
    """Raise the error that urllib3 raises if a connection breaks within the head."""
    try:
        raise connection_error(reason)
    except (OSError, http.client.HTTPException) as error:
        raise exceptions.ProtocolError(ABORTED, error) from error


def tls_error(reason: str, detail: str) -> ssl.SSLError:
    """Return the error of a failed TLS handshake."""
    text = f"[{reason}] {detail}"
    if reason == "tls.closed":
        return ssl.SSLEOFError(ssl.SSL_ERROR_EOF, text)
    if reason in CERTIFICATE:
        return ssl.SSLCertVerificationError(1, text)
    return ssl.SSLError(1, text)


def raise_parser_error(head: bytes) -> None:
    """Parse a head with http.client, and raise its error as urllib3 does."""
    parser: Any = http.client.HTTPResponse
    try:
        parser(SimpleNamespace(makefile=lambda *_: io.BytesIO(head))).begin()
    except http.client.HTTPException as error:
        raise exceptions.ProtocolError(ABORTED, error) from error


def connection_error(reason: str) -> Exception:
    """Return the error of a broken connection, as the socket or http.client raises it."""
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


def _raise_connect_error(reason: str, pool: Any, url: str) -> NoReturn:
    if reason == "connect.proxy":
        error: Exception = OSError("Tunnel connection failed")
        text = "Unable to connect to proxy"
        raise exceptions.MaxRetryError(pool, url, exceptions.ProxyError(text, error))
    kind, number, message = ERRNO.get(reason, (OSError, 5, "Input/output error"))
    try:
        raise kind(number, message)
    except OSError as error:
        text = f"Failed to establish a new connection: [Errno {number}] {message}"
        _raise_max_retries(exceptions.NewConnectionError(pool.connection, text), pool, url)


def _raise_tls_error(reason: str, error: ssl.SSLError, pool: Any, url: str) -> NoReturn:
    refused = exceptions.SSLError(error)
    if reason != "tls.refused":
        _raise_max_retries(refused, pool, url)
    # Python receives a refusal when it reads, after the handshake.
    try:
        raise error
    except ssl.SSLError:
        raise exceptions.MaxRetryError(pool, url, refused) from error


def _raise_max_retries(reason: exceptions.HTTPError, pool: Any, url: str) -> NoReturn:
    """Raise MaxRetryError with a reason as its cause, from which Locust takes its text."""
    try:
        raise reason
    except exceptions.HTTPError as error:
        raise exceptions.MaxRetryError(pool, url, error) from error
