"""Find the exchange behind what Locust reports, in a response or in the error instead of it."""

from __future__ import annotations

from typing import Any

from torr.locust.reactor import Call

# Attributes in which a response keeps what it was made of: in requests, in geventhttpclient.
_SOURCES = ("raw", "_response")
_MARK = "torr_call"


def marked(error: Exception, call: Call) -> Exception:
    """Return the error, with the call that it is about attached."""
    setattr(error, _MARK, call)
    return error


def exchange_of(response: Any) -> Call | None:
    """Return the call that a response was made of; None if torr's client sent no request."""
    attributes = getattr(response, "__dict__", None)
    if attributes is None:
        return None
    call = attributes.get("_call")
    for name in _SOURCES:
        call = call or getattr(attributes.get(name), "call", None)
    return call if isinstance(call, Call) else _behind(attributes.get("error"))


def _behind(error: object) -> Call | None:
    """Return the call of an error, or of the error that caused it."""
    while isinstance(error, BaseException):
        call = getattr(error, _MARK, None)
        if isinstance(call, Call):
            return call
        raw = getattr(getattr(error, "response", None), "raw", None)
        behind = getattr(raw, "call", None)
        if isinstance(behind, Call):
            return behind
        error = error.args[0] if error.args else None
    return None
