"""Logs of LiteLLM: JSON lines or an array, with times, lengths and, if they were logged, messages.

Requests of one `trace_id` are a session, or of one `session_id` where there is no `trace_id`. They
may overlap: a request follows those of its session that had ended when it started. Requests that
failed have no completion tokens: they are left out and counted.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from torr.errors import FileError
from torr.messages.say import say
from torr.model.stream import MOST_TOKENS
from torr.sources.times import iso_ns, nearest_ns
from torr.sources.traces.json_values import read_objects
from torr.sources.traces.litellm_messages import read_messages
from torr.sources.traces.order import in_order, spread_in_seconds
from torr.sources.traces.row import Draft, TraceCounts, TraceRow
from torr.sources.traces.sessions import as_recorded, session_of
from torr.sources.traces.trace_format import ReadOptions, TraceFormat, with_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.sources.traces.source import TraceSource

_MOST_SECONDS = 1e11
# A zone as PostgreSQL writes it.
_HOURS_ZONE = re.compile(r"[+-]\d\d$", re.ASCII)


def read(source: TraceSource, _options: ReadOptions, counts: TraceCounts) -> Iterator[TraceRow]:
    """Yield the rows; raise FileError."""
    drafts = _drafts(source)
    ordered = in_order(with_tokens(drafts, counts), source.path)
    return as_recorded(spread_in_seconds(ordered))


def _drafts(source: TraceSource) -> Iterator[Draft]:
    for line, entry in read_objects(source.path, source.text()):
        start, end = _time(entry.get("startTime")), _time(entry.get("endTime"))
        if start is None:
            raise _error(source, line, "startTime")
        session = entry.get("trace_id") or entry.get("session_id")
        messages, images = read_messages(entry.get("messages"))
        model = entry.get("model")
        yield Draft(
            line,
            start,
            _tokens(source, line, entry, "prompt_tokens"),
            _tokens(source, line, entry, "completion_tokens"),
            took_ns=None if end is None else max(0, end - start),
            session=session_of(session) if isinstance(session, str) else None,
            messages=messages,
            model=model if isinstance(model, str) else None,
            images=images,
        )


def _error(source: TraceSource, line: int, name: str) -> FileError:
    return FileError(
        source.path,
        line,
        say("{name} is missing, or not in the form of LiteLLM", name=name),
        say("export the log with all of its fields"),
    )


def _time(value: object) -> int | None:
    """Return the nanoseconds of seconds since 1970 or of a text; None if it is neither."""
    if isinstance(value, str):
        return iso_ns(f"{value}:00" if _HOURS_ZONE.search(value[19:]) else value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return nearest_ns(value) if abs(value) <= _MOST_SECONDS else None


def _tokens(source: TraceSource, line: int, entry: dict[str, Any], name: str) -> int:
    value = entry.get(name)
    # Failed requests may have none.
    value = 0 if value is None else value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _error(source, line, name)
    if value > MOST_TOKENS:
        raise FileError(
            source.path,
            line,
            say(
                "{name} is {text!r}, not a number from 0 to {most:,}",
                name=name,
                text=value,
                most=MOST_TOKENS,
            ),
        )
    return value


FORMAT = TraceFormat(
    "litellm",
    "LiteLLM",
    "trace",
    read,
    keys=frozenset({"startTime", "prompt_tokens", "completion_tokens"}),
    has_sessions=True,
    has_texts=True,
)
