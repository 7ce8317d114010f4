"""The error of a run that got no answer: what was tried, how it ended, where that is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.errors import NothingMeasuredError
from torr.planning.once import missing_socket, written_url
from torr.results.level import AttemptCounts, Level
from torr.units import show_connections, show_count

if TYPE_CHECKING:
    from pathlib import Path

    from torr.results.result import RunResult

HUNG = "timeout.first_byte"


def nothing_measured(failure: str, result: RunResult, kept: Path) -> NothingMeasuredError:
    """The error of a run without an answer; the hint is what to try against its commonest end."""
    from torr.report.text.reasons import advice

    level = result.levels[0]
    ends = level.reasons
    said = [f"{failure}: tried {_tried(result)}", *_ended(result)]
    hint = advice(max(ends, key=ends.__getitem__)) if ends else ""
    if not hint and _hung(level):
        hint = advice(HUNG)
    if missing_socket(_request(result).get("unix_socket")) is not None:
        hint = "start the server first, or name the socket that it made"
    return NothingMeasuredError(f"{'; '.join(said)}; kept in {kept}", hint or None)


def _request(result: RunResult) -> dict[str, Any]:
    source = _source(result)
    request: dict[str, Any] = (
        source["request"] if source["kind"] == "one" else source["requests"][0]
    )
    return request


def _source(result: RunResult) -> dict[str, Any]:
    """The first source of the plan, as the engine takes it."""
    source: dict[str, Any] = (result.plan or {})["groups"][0]["source"]
    return source


def _tried(result: RunResult) -> str:
    """What was sent, how often, over how many connections."""
    level, request = result.levels[0], _request(result)
    more = "" if _source(result)["kind"] == "one" else " and others"
    before = _warmup(level).attempted
    times = show_count(level.counts.attempted + before, "time")
    over = show_connections(level.connections.requested if level.connections else 0)
    url = written_url(request["url"], request.get("unix_socket"))
    said = f"{request['method']} {url}{more} {times}"
    return f"{said} over {over}" + (f", {before:,} of them in the warm-up" if before else "")


def _ended(result: RunResult) -> list[str]:
    """How the attempts ended, each in words."""
    from torr.report.text.reasons import meaning

    level = result.levels[0]
    missing = missing_socket(_request(result).get("unix_socket"))
    said = []
    for reason, count in level.reasons.items():
        text = missing or meaning(reason)
        said.append(f"{reason} × {count:,}" + (f" ({text})" if text else ""))
    before = _warmup(level).errors
    said += [f"in the warm-up {name} × {count:,}" for name, count in before.items()]
    hung = _hung(level)
    return [*said, *([f"{hung:,} hung"] if hung else [])]


def _hung(level: Level) -> int:
    """How many waited for their answer until the timeout or the end."""
    each = (level.counts, _warmup(level))
    return sum(c.errors.get("timeout", 0) + c.in_flight for c in each)


def _warmup(level: Level) -> AttemptCounts:
    return level.warmup.counts if level.warmup else AttemptCounts()
