"""Small words that sentences share."""

from __future__ import annotations

from collections.abc import Sequence


def because(reason: str | None) -> str:
    """Return a reason as the end of a clause."""
    return f": {reason.rstrip('.')}" if reason else ""


def first_text(texts: Sequence[str]) -> str | None:
    """Return the first text without its full stop."""
    return texts[0].rstrip(".") if texts else None


def join(words: Sequence[str]) -> str:
    """Return `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return " and ".join([", ".join(words[:-1]), words[-1]])
