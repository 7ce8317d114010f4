"""The errors of a failed exchange for a FastHttpUser: those of sockets and of its parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from geventhttpclient.response import HTTPConnectionClosed, HTTPParseError, HTTPResponse

from torr.locust.exchanges import attach_call
from torr.locust.failures import ERRNO, tls_error

if TYPE_CHECKING:
    from torr.locust.reactor import Call

CLOSED = ("read.closed", "read.closed_on_reuse", "read.reset")


def raise_failure(call: Call) -> NoReturn:
    """Raise the error that geventhttpclient raises for the same failure."""
    reason = call.failure or ""
    try:
        if reason.startswith("protocol.") or reason == "read.closed_in_head":
            # The parser raises the error.
            parser = HTTPResponse()
            parser.feed(call.excerpt())
            parser.feed(b"")
    except HTTPParseError as error:
        attach_call(error, call)
        raise
    raise attach_call(error_of(reason, call.detail or ""), call)


def error_of(reason: str, detail: str) -> Exception:
    """Return the error of a reason."""
    kind = reason.partition(".")[0]
    if kind == "connect":
        error, number, text = ERRNO.get(reason, (OSError, 5, "Input/output error"))
        return error(number, text)
    if kind == "timeout":
        return TimeoutError("timed out")
    if kind == "tls":
        return tls_error(reason, detail)
    if reason in CLOSED:
        closed: Exception = HTTPConnectionClosed("connection closed.")
        return closed
    if reason == "read.closed_in_body":
        cut: Exception = HTTPParseError("Incomplete response.")
        return cut
    if reason == "write.closed":
        return BrokenPipeError(32, "Broken pipe")
    if "reset" in reason:
        return ConnectionResetError(104, "Connection reset by peer")
    strange: Exception = HTTPParseError(f"{detail} ({reason})")
    return strange
