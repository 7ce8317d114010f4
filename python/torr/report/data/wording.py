"""Short clauses and nouns that sentences share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import levels_of
from torr.messages.say import Text, changed, say
from torr.results.position import ARRIVAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.level import Level
    from torr.results.position import Position
    from torr.stats.series import Series


def places(series: Series, *positions: Position) -> str:
    """Return levels of a series with their noun: `1, 8 and 16 connections`."""
    return levels_of(positions, series.noun)


def heading(noun: str) -> Text:
    """Return what a column of levels is called."""
    if noun == ARRIVAL:
        return say("arrivals/s")
    return say("users") if noun == "user" else say("connections")


def because(reason: str | None) -> str:
    """Return a reason as the end of a clause."""
    return say(": {reason}", reason=_without_stop(reason)) if reason else ""


def first_text(texts: Sequence[str]) -> str | None:
    """Return the first text without its full stop."""
    return _without_stop(texts[0]) if texts else None


def health_reason(levels: Sequence[Level]) -> str:
    """Return the first reason of the generator's health, in parentheses."""
    first = first_text([reason for level in levels for reason in level.health.reasons])
    return say(" ({why})", why=first) if first else ""


def _without_stop(text: str) -> Text:
    return changed(text, lambda written: written.rstrip("."))


def most_by(levels: Sequence[Level]) -> str:
    """Return the commonest reason of the failures of levels, as the end of a clause."""
    reasons: dict[str, int] = {}
    for level in levels:
        for reason, count in level.reasons.items():
            reasons[reason] = reasons.get(reason, 0) + count
    most = max(reasons, key=lambda reason: reasons[reason], default=None)
    return say(", most by {reason}", reason=most) if most else ""
