"""Small words that sentences share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torr.stats.series import Level


def because(reason: str | None) -> str:
    """Return a reason as the end of a clause."""
    return f": {reason.rstrip('.')}" if reason else ""


def first_text(texts: Sequence[str]) -> str | None:
    """Return the first text without its full stop."""
    return texts[0].rstrip(".") if texts else None


def most_by(levels: Sequence[Level]) -> str:
    """Return the commonest reason of the failures of levels, as the end of a clause."""
    reasons: dict[str, int] = {}
    for level in levels:
        for reason, count in (level.get("reasons") or {}).items():
            reasons[reason] = reasons.get(reason, 0) + count
    most = max(reasons, key=lambda reason: reasons[reason], default=None)
    return f", most by {most}" if most else ""


def join(words: Sequence[str]) -> str:
    """Return `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return " and ".join([", ".join(words[:-1]), words[-1]])
