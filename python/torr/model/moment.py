"""Moments as result.json writes them, in UTC: `2026-01-31T12:00:00.000Z`."""

from __future__ import annotations

from datetime import datetime, timezone

_EARLIEST = datetime(1970, 1, 1, tzinfo=timezone.utc)
# A clock may be wrong, but a later moment cannot be shown in every time zone.
_LATEST = datetime(9000, 1, 1, tzinfo=timezone.utc)


def stamp(moment: datetime) -> str:
    """Return a moment as text, with milliseconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def read_stamp(text: str) -> datetime:
    """Return the moment of a text; raise ValueError outside of the years 1970 to 9000."""
    parsed = datetime.fromisoformat(text.replace("Z", "+00:00"))
    moment = parsed if parsed.tzinfo else parsed.replace(tzinfo=timezone.utc)
    if not _EARLIEST <= moment < _LATEST:
        raise ValueError(f"{text} is not between the years 1970 and 9000")
    return moment
