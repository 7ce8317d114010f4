"""The exchange behind what Locust reports: found in the response, or in the error in its place."""

from __future__ import annotations

from typing import Any

from torr.locust.reactor import Call

# Where a response keeps what it was made of: torr's plain ones, requests', geventhttpclient's.
_KEEPERS = ("raw", "_response")
_MARK = "torr_call"


def marked(error: Exception, call: Call) -> Exception:
    """An error that knows whose it is."""
    setattr(error, _MARK, call)
    return error


def exchange_of(response: Any) -> Call | None:
    """The call that a response was made of; None where torr's client was not asked."""
    kept = getattr(response, "__dict__", None)
    if kept is None:
        return None
    call = kept.get("_call")
    for name in _KEEPERS:
        call = call or getattr(kept.get(name), "call", None)
    return call if isinstance(call, Call) else _behind(kept.get("error"))


def _behind(error: object) -> Call | None:
    """The call of an error, or of the one that it was made of."""
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
