"""The error of a run without an answer: what was sent, how the attempts ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from torr.errors import NothingMeasuredError
from torr.experiments.once import missing_socket, written_url
from torr.results.base import convert
from torr.results.level import AttemptCounts, Level
from torr.units import show_connections, show_count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torr.results.result import RunResult

HUNG = "timeout.first_byte"


def nothing_measured(failure: str, result: RunResult, directory: Path) -> NothingMeasuredError:
    """Return the error of a run without an answer; its hint is against the most common reason."""
    from torr.report.text.reasons import advice

    level, requests = result.levels[0], _requests_of(result)
    missing = missing_socket(requests[0].unix_socket)
    reasons, hung = level.reasons, _hung(level)
    hint = advice(max(reasons, key=reasons.__getitem__)) if reasons else ""
    if not hint and hung:
        hint = advice(HUNG)
    if missing is not None:
        hint = "start the server first, or name the socket that it made"
    attempts = [f"{failure}: tried {_attempts(level, requests)}", *_reasons(level, missing)]
    attempts += [f"{hung:,} hung"] if hung else []
    return NothingMeasuredError(f"{'; '.join(attempts)}; see {directory}", hint or None)


class _StoredRequest(msgspec.Struct):
    """A request of a stored plan."""

    method: str
    url: str
    unix_socket: str | None = None


class _StoredSource(msgspec.Struct):
    """The source of a stored plan: one request, or several."""

    request: _StoredRequest | None = None
    requests: list[_StoredRequest] = []


def _requests_of(result: RunResult) -> list[_StoredRequest]:
    """Return the requests of the first group."""
    source = convert((result.plan or {})["groups"][0]["source"], _StoredSource)
    return source.requests if source.request is None else [source.request]


def _attempts(level: Level, requests: Sequence[_StoredRequest]) -> str:
    """Return what was sent, how often, and over how many connections."""
    before = _warmup(level).attempted
    times = show_count(level.counts.attempted + before, "time")
    connections = show_connections(level.connections.requested if level.connections else 0)
    request = requests[0]
    others = " and others" if len(requests) > 1 else ""
    url = written_url(request.url, request.unix_socket)
    text = f"{request.method} {url}{others} {times} over {connections}"
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
