"""Names of the cells of a comparison and of the values of its factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.say import Text, chain, join, say, say_count
from torr.units import show_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from torr.stats.trials import Cell


_NOUNS: dict[str, Callable[[int], Text]] = {
    "processes": lambda n: say_count(n, "{n:,} process", "{n:,} processes"),
    "workers": lambda n: say_count(n, "{n:,} worker", "{n:,} workers"),
    "connections": lambda n: counted(n, "connection"),
    "users": lambda n: counted(n, "user"),
}


_LOADS = frozenset({"connections", "users", "rate"})


_MOST_NAMES = 4


def setting(nouns: Mapping[Cell, str], order: Iterable[str]) -> Callable[[Cell], str]:
    """Return what writes a cell: `4 processes and 500 connections`.

    `nouns` are the cells, each with the unit of its load. Factors stand in the order that they
    were asked for in. The level of load is left out where it is the same in all cells and
    something else tells them apart.
    """
    has_several_loads = len({(cell.concurrency, cell.rate) for cell in nouns}) > 1
    wanted = list(order)

    def words(cell: Cell) -> str:
        factors = cell.factors
        names = [*(n for n in wanted if n in factors), *(n for n in factors if n not in wanted)]
        parts = [named(name, factors[name]) for name in names]
        if not _LOADS & factors.keys() and (has_several_loads or not parts):
            parts += _load(cell, nouns[cell])
        return join(parts) or say("the only cell")

    return words


def named(factor: str, value: object) -> str:
    """Return a factor's value with its name: `4 processes`, `delay 500ms`, `log on`."""
    if isinstance(value, bool):
        on = say("{factor} on", factor=factor)
        return on if value else say("{factor} off", factor=factor)
    if isinstance(value, int) and factor in _NOUNS:
        return _NOUNS[factor](value)
    return f"{factor} {value}"


def names(labels: Sequence[str]) -> str:
    """Return some names, `a, b and c`; of many the first ones and how many more there are."""
    if len(labels) <= _MOST_NAMES:
        return join(labels)
    shown = _MOST_NAMES - 1
    some = chain(", ", labels[:shown])
    return say("{names} and {more} more", names=some, more=len(labels) - shown)


def _load(cell: Cell, noun: str) -> list[str]:
    if cell.rate is not None:
        return [say("{rate} arrivals/s", rate=show_rate(cell.rate))]
    return [counted(cell.concurrency, noun)] if cell.concurrency else []
