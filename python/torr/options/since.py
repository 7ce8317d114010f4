"""Parse the start of a time range: a day, a time, or a duration before now."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo

from torr import units
from torr.errors import UsageError
from torr.messages.say import say

_DAYS = re.compile(r"(\d{1,5})d")


def parse_since(text: str, zone: tzinfo | None = None) -> datetime:
    """Return the time of `7d`, `12h`, `2026-01-31` or `2026-01-31T12:00`; raise UsageError.

    A time without a zone is in `zone`, or else local.
    """
    now = datetime.now(timezone.utc)
    days = _DAYS.fullmatch(text.strip())
    if days:
        return now - timedelta(days=int(days[1]))
    try:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone()
    except (ValueError, OverflowError):
        pass
    try:
        return now - timedelta(seconds=units.parse_duration(text) / units.SECOND_NS)
    except UsageError as error:
        hint = say("write 7d, 12h, 2026-01-31 or 2026-01-31T12:00")
        raise UsageError(say("{text!r} is neither a day nor a time", text=text), hint) from error
