"""What a page's URL asks for, read into typed values; UsageError says what cannot be read."""

from __future__ import annotations

from datetime import timezone
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.store.runs.since import parse_since
from torr.store.runs.store import Filter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import QueryParams

# What fits the columns of ids and of levels in every database.
_MOST_ID = 2**31 - 1
_MOST_DIGITS = 10


def filter_of(query: QueryParams) -> Filter:
    """Return which runs are meant: `name`, `tag` (repeatable), `commit`, `since`, as UTC."""
    since = text(query, "since")
    return Filter(
        name=text(query, "name"),
        tags=tuple(filter(None, map(str.strip, query.getlist("tag")))),
        commit=text(query, "commit"),
        since=None if since is None else parse_since(since, timezone.utc),
    )


def text(query: QueryParams, key: str) -> str | None:
    """Return a value, None where it is empty."""
    return query.get(key, "").strip() or None


def count(query: QueryParams, key: str) -> int | None:
    """Return a positive whole number, None where there is none."""
    found = text(query, key)
    return None if found is None else whole(found, key)


def side(query: QueryParams, key: str) -> tuple[int, Sequence[str]]:
    """Return a side of an overlay: a run's id, and what stands behind its colon."""
    name, _, asked = (text(query, key) or "").partition(":")
    return whole(name, key), asked.split(",") if asked else []


def whole(found: str, key: str) -> int:
    """Return a positive whole number."""
    # Python reads no number of thousands of digits, and says so as it says nothing else.
    is_number = found.isascii() and found.isdigit() and len(found) <= _MOST_DIGITS
    if not (is_number and 0 < int(found) <= _MOST_ID):
        raise UsageError(f"{key}={found[:40]!r} is no whole number above 0")
    return int(found)
