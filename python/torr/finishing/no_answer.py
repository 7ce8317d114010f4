"""The error of a run without a response: what was sent, how the attempts ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from torr.errors import NothingMeasuredError
from torr.experiments.once import missing_socket, written_url
from torr.messages.advice import advice
from torr.messages.counts import counted
from torr.messages.say import chain, changed, say
from torr.model.url import is_websocket
from torr.results.base import convert
from torr.results.level import AttemptCounts, Level

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torr.results.result import RunResult

HUNG = "timeout.first_byte"
NOT_ACCEPTED = "timeout.connect"
_HINT = "\nhint: "


def nothing_measured(failure: str, result: RunResult, directory: Path) -> NothingMeasuredError:
    """Return the error of a run without a response; its hint is against the most common reason."""
    level, requests = result.levels[0], _requests_of(result)
    missing = missing_socket(requests[0].unix_socket)
    unmatched = level.websocket.unmatched_messages if level.websocket else 0
    reasons, hung = level.reasons, _hung(level)
    hint = advice(max(reasons, key=reasons.__getitem__)) if reasons else ""
    if not hint and hung:
        hint = advice(HUNG if _was_connected(level) else NOT_ACCEPTED)
    if missing is not None:
        hint = say("start the server first, or name the socket that it made")
    if unmatched:
        hint = say(
            "compare the id in an answer with that of its request, as `torr run --once -v` shows"
            " them, and give its key with --match id:KEY"
        )
    # That of a file whose rows could not be read says what to do with the file.
    _, _, own_hint = str(failure).partition(_HINT)
    if own_hint:
        failure = changed(failure, lambda text: text.partition(_HINT)[0])
        hint = own_hint
    tried = say("{failure}: tried {sent}", failure=failure, sent=_attempts(level, requests))
    parts = [tried, *_reasons(level, missing)]
    if not _was_connected(level) and not reasons:
        parts.append(say("no connection was opened"))
    elif unmatched:
        parts.append(say("{n:,} messages came, none with the id of a request", n=unmatched))
    elif hung:
        parts.append(say("{n:,} hung", n=hung))
    return NothingMeasuredError(
        say("{attempts}; see {directory}", attempts=chain("; ", parts), directory=directory),
        hint or None,
    )


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
    requested = level.connections.requested if level.connections else 0
    request = requests[0]
    url = written_url(request.url, request.unix_socket)
    sent = url if is_websocket(url) else f"{request.method} {url}"
    if len(requests) > 1:
        sent = say("{request} and others", request=sent)
    text = say(
        "{request} {times} over {connections}",
        request=sent,
        times=counted(level.counts.attempted + before, "time"),
        connections=counted(requested, "connection"),
    )
    warmup = say("{n:,} of them in the warm-up", n=before) if before else ""
    return chain(", ", [text, warmup])


def _reasons(level: Level, missing: str | None) -> list[str]:
    """Return how the attempts ended, each with its meaning."""
    from torr.report.text.reasons import meaning

    texts = []
    for reason, count in level.reasons.items():
        text = missing or meaning(reason)
        why = say(" ({why})", why=text) if text else ""
        texts.append(say("{reason} × {count:,}{why}", reason=reason, count=count, why=why))
    before = _warmup(level).errors
    return [
        *texts,
        *(
            say("in the warm-up {name} × {count:,}", name=name, count=count)
            for name, count in before.items()
        ),
    ]


def _was_connected(level: Level) -> bool:
    return level.connections is None or level.connections.open_max > 0


def _hung(level: Level) -> int:
    """Return how many attempts waited for their response until the timeout or the end."""
    phases = (level.counts, _warmup(level))
    return sum(counts.errors.get("timeout", 0) + counts.in_flight for counts in phases)


def _warmup(level: Level) -> AttemptCounts:
    return level.warmup.counts if level.warmup else AttemptCounts()
