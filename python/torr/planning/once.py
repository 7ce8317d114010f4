"""One request, sent once: what the engine found, or the error that says why there is no answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr import engine
from torr.errors import NothingMeasuredError, require

if TYPE_CHECKING:
    from torr.model.plan import Plan


def answered(plan: Plan) -> dict[str, Any]:
    """Send one request; what the engine found, if that is a complete answer."""
    found = sent(plan)
    require_answer(plan, found)
    return found


def sent(plan: Plan) -> dict[str, Any]:
    """Send one request; what the engine found."""
    count = len(plan.requests)
    require(count == 1, f"--once sends one request, and {count} are given", "give one URL")
    return engine.once(plan)


def require_answer(plan: Plan, found: dict[str, Any]) -> None:
    """Raise NothingMeasuredError unless a complete answer was found."""
    if found["class"] not in {"ok", "status", "check"}:
        request = plan.requests[0]
        text = missing_socket(request.unix_socket) or found["detail"]
        raise NothingMeasuredError(
            f"{where(request.url, request.unix_socket)}: {found['reason'] or found['class']}"
            + (f": {text}" if text else ""),
            f"tried once, at {found['address'] or 'no address'}",
        )


def where(url: str, socket: str | None) -> str:
    """A URL as the user wrote it: that of a Unix socket reads `http://localhost` inside."""
    return url if socket is None else f"unix:{socket}:{url.removeprefix('http://localhost')}"


def missing_socket(socket: str | None) -> str | None:
    """What to say of a Unix socket that is not there."""
    is_missing = socket is not None and not Path(socket).exists()
    return f"{socket} does not exist" if is_missing else None
