"""The error of a run that got no answer: what was tried, how it ended, where that is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torr.errors import NothingMeasuredError
from torr.units import show_connections, show_count

Json = dict[str, Any]

HUNG = "timeout.first_byte"


def nothing_measured(failure: str, result: Json, kept: Path) -> NothingMeasuredError:
    """The error of a run without an answer; the hint is what to try against its commonest end."""
    from torr.report.reasons import advice

    level = result["levels"][0]
    ends = level["reasons"]
    said = [f"{failure}: tried {_tried(result)}", *_ended(result)]
    hint = advice(max(ends, key=ends.__getitem__)) if ends else ""
    if not hint and _hung(level):
        hint = advice(HUNG)
    if missing_socket(_request(result).get("unix_socket")) is not None:
        hint = "start the server first, or name the socket that it made"
    return NothingMeasuredError(f"{'; '.join(said)}; kept in {kept}", hint or None)


def where(url: str, socket: str | None) -> str:
    """A URL as the user wrote it: that of a Unix socket reads `http://localhost` inside."""
    return url if socket is None else f"unix:{socket}:{url.removeprefix('http://localhost')}"


def missing_socket(socket: str | None) -> str | None:
    """What to say of a Unix socket that is not there."""
    is_missing = socket is not None and not Path(socket).exists()
    return f"{socket} does not exist" if is_missing else None


def _request(result: Json) -> Json:
    source = result["plan"]["groups"][0]["source"]
    request: Json = source["request"] if source["kind"] == "one" else source["requests"][0]
    return request


def _tried(result: Json) -> str:
    """What was sent, how often, over how many connections."""
    level, request = result["levels"][0], _request(result)
    more = "" if result["plan"]["groups"][0]["source"]["kind"] == "one" else " and others"
    before = _warmup(level).get("attempted", 0)
    times = show_count(level["counts"]["attempted"] + before, "time")
    over = show_connections(level["connections"]["asked"])
    said = f"{request['method']} {where(request['url'], request.get('unix_socket'))}{more} {times}"
    return f"{said} over {over}" + (f", {before:,} of them in the warm-up" if before else "")


def _ended(result: Json) -> list[str]:
    """How the attempts ended, each in words."""
    from torr.report.reasons import meaning

    level = result["levels"][0]
    missing = missing_socket(_request(result).get("unix_socket"))
    said = []
    for reason, count in level["reasons"].items():
        text = missing or meaning(reason)
        said.append(f"{reason} × {count:,}" + (f" ({text})" if text else ""))
    before = _warmup(level).get("errors", {})
    said += [f"in the warm-up {name} × {count:,}" for name, count in before.items()]
    hung = _hung(level)
    return [*said, *([f"{hung:,} hung"] if hung else [])]


def _hung(level: Json) -> int:
    """How many waited for their answer until the timeout or the end."""
    each = (level["counts"], _warmup(level))
    return sum(c.get("errors", {}).get("timeout", 0) + c.get("in_flight", 0) for c in each)


def _warmup(level: Json) -> Json:
    counts: Json = (level.get("warmup") or {}).get("counts") or {}
    return counts
