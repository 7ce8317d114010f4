"""From when on, as people write it: a day, a moment, or how long ago. No database is opened."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo

from torr import units
from torr.errors import UsageError

_DAYS = re.compile(r"(\d{1,5})d")


def parse_since(text: str, zone: tzinfo | None = None) -> datetime:
    """Return the moment of `7d`, `12h`, `2026-01-31` or `2026-01-31T12:00`.

    What names no zone is of `zone`, without one local. Raises UsageError.
    """
    now = datetime.now(timezone.utc)
    days = _DAYS.fullmatch(text.strip())
    if days:
        return now - timedelta(days=int(days[1]))
    try:
        found = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone()
    except (ValueError, OverflowError):
        pass
    try:
        return now - timedelta(seconds=units.parse_duration(text) / units.SECOND_NS)
    except UsageError as error:
        hint = "write 7d, 12h, 2026-01-31 or 2026-01-31T12:00"
        raise UsageError(f"{text!r} is no day and no time", hint) from error
