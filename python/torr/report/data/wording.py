"""Short clauses and nouns that sentences share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import Text, changed, join, say, say_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.results.level import Level
    from torr.stats.series import Series

_COUNTS: dict[str, Callable[[int], Text]] = {
    "answer": lambda n: say_count(n, "{n:,} answer", "{n:,} answers"),
    "cell": lambda n: say_count(n, "{n:,} cell", "{n:,} cells"),
    "connection": lambda n: say_count(n, "{n:,} connection", "{n:,} connections"),
    "event": lambda n: say_count(n, "{n:,} event", "{n:,} events"),
    "level": lambda n: say_count(n, "{n:,} level", "{n:,} levels"),
    "round": lambda n: say_count(n, "{n:,} round", "{n:,} rounds"),
    "trial": lambda n: say_count(n, "{n:,} trial", "{n:,} trials"),
    "user": lambda n: say_count(n, "{n:,} user", "{n:,} users"),
}


def counted(count: int, noun: str) -> Text:
    """Return a number of things: `1 round`, `1,600 rounds`."""
    return _COUNTS[noun](count)


def levels_of(counts: Sequence[int], noun: str) -> str:
    """Return levels with what they count behind the last: `1, 8 and 16 users`."""
    *before, last = counts
    return join([*(f"{count:,}" for count in before), counted(last, noun)])


def places(series: Series, *counts: int) -> str:
    """Return levels of a series with their noun: `1, 8 and 16 connections`."""
    return levels_of(counts, series.noun)


def heading(noun: str) -> Text:
    """Return what a column of levels is called."""
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
