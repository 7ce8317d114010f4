"""Numbers of things, such as `1 round` and `1, 8 and 16 users`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.messages.say import Text, join, say, say_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_COUNTS: dict[str, Callable[[Any], Text]] = {
    "answer": lambda n: say_count(n, "{n:,} answer", "{n:,} answers"),
    "arrival": lambda n: say("{n:,} arrivals/s", n=n),
    "cell": lambda n: say_count(n, "{n:,} cell", "{n:,} cells"),
    "comparison": lambda n: say_count(n, "{n:,} comparison", "{n:,} comparisons"),
    "connection": lambda n: say_count(n, "{n:,} connection", "{n:,} connections"),
    "core": lambda n: say_count(n, "{n:,} core", "{n:,} cores"),
    "error": lambda n: say_count(n, "{n:,} error", "{n:,} errors"),
    "event": lambda n: say_count(n, "{n:,} event", "{n:,} events"),
    "failure": lambda n: say_count(n, "{n:,} failure", "{n:,} failures"),
    "finished level": lambda n: say_count(n, "{n:,} finished level", "{n:,} finished levels"),
    "finished trial": lambda n: say_count(n, "{n:,} finished trial", "{n:,} finished trials"),
    "fresh round": lambda n: say_count(n, "{n:,} fresh round", "{n:,} fresh rounds"),
    "level": lambda n: say_count(n, "{n:,} level", "{n:,} levels"),
    "node": lambda n: say_count(n, "{n:,} node", "{n:,} nodes"),
    "other level": lambda n: say_count(n, "{n:,} other level", "{n:,} other levels"),
    "other trial": lambda n: say_count(n, "{n:,} other trial", "{n:,} other trials"),
    "profile": lambda n: say_count(n, "{n:,} profile", "{n:,} profiles"),
    "round": lambda n: say_count(n, "{n:,} round", "{n:,} rounds"),
    "run": lambda n: say_count(n, "{n:,} run", "{n:,} runs"),
    "setting": lambda n: say_count(n, "{n:,} setting", "{n:,} settings"),
    "parameter": lambda n: say_count(n, "{n:,} parameter", "{n:,} parameters"),
    "time": lambda n: say_count(n, "{n:,} time", "{n:,} times"),
    "trace": lambda _: say("the times of the trace"),
    "trial": lambda n: say_count(n, "{n:,} trial", "{n:,} trials"),
    "user": lambda n: say_count(n, "{n:,} user", "{n:,} users"),
}


def counted(count: float, noun: str) -> Text:
    """Return a number of things: `1 round`, `1,600 rounds`."""
    return _COUNTS[noun](count)


def levels_of(counts: Sequence[float], noun: str) -> str:
    """Return levels with what they count behind the last: `1, 8 and 16 users`."""
    *before, last = counts
    return join([*(f"{count:,}" for count in before), counted(last, noun)])
