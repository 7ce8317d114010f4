"""The error of a run without an answer: what was sent, how the attempts ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import NothingMeasuredError
from torr.experiments.once import missing_socket, written_url
from torr.results.level import AttemptCounts, Level
from torr.units import show_connections, show_count

if TYPE_CHECKING:
    from pathlib import Path

    from torr.model.json import JsonObject
    from torr.results.result import RunResult

HUNG = "timeout.first_byte"


def nothing_measured(failure: str, result: RunResult, directory: Path) -> NothingMeasuredError:
    """Return the error of a run without an answer; its hint is against the most common reason."""
    from torr.report.text.reasons import advice

    level, source = result.levels[0], (result.plan or {})["groups"][0]["source"]
    request = source["request"] if source["kind"] == "one" else source["requests"][0]
    others = "" if source["kind"] == "one" else " and others"
    missing = missing_socket(request.get("unix_socket"))
    reasons, hung = level.reasons, _hung(level)
    hint = advice(max(reasons, key=reasons.__getitem__)) if reasons else ""
    if not hint and hung:
        hint = advice(HUNG)
    if missing is not None:
        hint = "start the server first, or name the socket that it made"
    attempts = [f"{failure}: tried {_attempts(level, request, others)}", *_reasons(level, missing)]
    attempts += [f"{hung:,} hung"] if hung else []
    return NothingMeasuredError(f"{'; '.join(attempts)}; see {directory}", hint or None)


def _attempts(level: Level, request: JsonObject, others: str) -> str:
    """Return what was sent, how often, and over how many connections."""
    before = _warmup(level).attempted
    times = show_count(level.counts.attempted + before, "time")
    connections = show_connections(level.connections.requested if level.connections else 0)
    url = written_url(request["url"], request.get("unix_socket"))
    text = f"{request['method']} {url}{others} {times} over {connections}"
    return text + (f", {before:,} of them in the warm-up" if before else "")


def _reasons(level: Level, missing: str | None) -> list[str]:
    """Return how the attempts ended, each with its meaning."""
    from torr.report.text.reasons import meaning

    texts = []
    for reason, count in level.reasons.items():
        text = missing or meaning(reason)
        texts.append(f"{reason} × {count:,}" + (f" ({text})" if text else ""))
    before = _warmup(level).errors
    return [*texts, *(f"in the warm-up {name} × {count:,}" for name, count in before.items())]


def _hung(level: Level) -> int:
    """Return how many attempts waited for their answer until the timeout or the end."""
    phases = (level.counts, _warmup(level))
    return sum(counts.errors.get("timeout", 0) + counts.in_flight for counts in phases)


def _warmup(level: Level) -> AttemptCounts:
    return level.warmup.counts if level.warmup else AttemptCounts()
