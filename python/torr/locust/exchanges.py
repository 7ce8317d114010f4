"""Find the call of a request that Locust reports, by its response or its error."""

from __future__ import annotations

from typing import Any

from torr.locust.reactor import Call

# Attributes of responses that hold the raw response: in requests, in geventhttpclient.
_SOURCES = ("raw", "_response")
_CALL_ATTRIBUTE = "torr_call"


def attach_call(error: Exception, call: Call) -> Exception:
    """Attach a call to the error that it caused, and return the error."""
    setattr(error, _CALL_ATTRIBUTE, call)
    return error


def exchange_of(response: Any) -> Call | None:
    """Return the call of a response; None if torr's client did not send the request."""
    attributes = getattr(response, "__dict__", None)
    if attributes is None:
        return None
    call = attributes.get("_call")
    for name in _SOURCES:
        call = call or getattr(attributes.get(name), "call", None)
    return call if isinstance(call, Call) else _call_of_error(attributes.get("error"))


def _call_of_error(error: object) -> Call | None:
    """Return the call of an error, or of the error that caused it."""
    while isinstance(error, BaseException):
        call = getattr(error, _CALL_ATTRIBUTE, None)
        if isinstance(call, Call):
            return call
        raw = getattr(getattr(error, "response", None), "raw", None)
        raw_call = getattr(raw, "call", None)
        if isinstance(raw_call, Call):
            return raw_call
        error = error.args[0] if error.args else None
    return None
