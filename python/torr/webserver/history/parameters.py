"""Read the query parameters of a page into typed values; raise UsageError for invalid ones."""

from __future__ import annotations

from datetime import timezone
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.say import say
from torr.options.readers import MOST_ID, POSITION
from torr.options.since import parse_since
from torr.store.runs.store import Filter

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

    from torr.results.position import Position


def filter_of(query: QueryParams) -> Filter:
    """Return the filter of runs: `name`, `tag` (repeatable), `commit`, `since`, in UTC."""
    since = text(query, "since")
    return Filter(
        name=text(query, "name"),
        tags=tuple(filter(None, map(str.strip, query.getlist("tag")))),
        commit=text(query, "commit"),
        since=None if since is None else parse_since(since, timezone.utc),
    )


def text(query: QueryParams, key: str) -> str | None:
    """Return a value; None if it is empty."""
    return query.get(key, "").strip() or None


def position(query: QueryParams, key: str) -> Position | None:
    """Return the position of a level; None if it is empty."""
    value = text(query, key)
    return None if value is None else POSITION.read(value[:40])


def positive_int(value: str, key: str) -> int:
    """Return a positive integer."""
    # int() raises ValueError for thousands of digits.
    is_number = value.isascii() and value.isdigit() and len(value) <= len(f"{MOST_ID}")
    if not (is_number and 0 < int(value) <= MOST_ID):
        raise UsageError(
            say("{key}={value!r} is not a whole number above 0", key=key, value=value[:40])
        )
    return int(value)
