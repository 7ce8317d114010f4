"""A row: one known thing, what was found of it in each round, and whether it is within its bar."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Value:
    """What was found, what is known, and how far apart they may be."""

    seen: float
    known: float
    allowed: float

    def distance(self) -> float:
        """How far apart they are."""
        return abs(self.seen - self.known)


@dataclass(frozen=True)
class Round:
    """Values by name, and what a reader should know besides: steal, CPU, what is not judged.

    A round without values could not be measured.
    """

    values: dict[str, Value]
    aside: dict[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One known thing; `measure` makes a round of so many seconds, a row has a few of them."""

    name: str
    bar: str
    measure: Callable[[int], Round]
    # What is long by itself is measured once.
    is_single: bool = False


@dataclass
class Found:
    """What came of a row."""

    name: str
    bar: str
    within: bool | None
    note: str
    rounds: list[Round]


def measured(row: Row, rounds: int, seconds: int) -> Found:
    """Measures a row; each value is judged by the median of its distances to the truth."""
    kept = [row.measure(seconds) for _ in range(1 if row.is_single else rounds)]
    words: list[str] = []
    within: bool | None = True if kept[0].values else None
    for name in kept[0].values:
        values = [one.values[name] for one in kept if name in one.values]
        met = statistics.median(value.distance() - value.allowed for value in values) <= 0
        within = bool(within and met)
        seen = statistics.median(value.seen for value in values)
        known = statistics.median(value.known for value in values)
        words.append(f"{name} {seen:,.4g} ({known:,.4g}){'' if met else ' **off**'}")
    asides = {
        name: [one.aside[name] for one in kept if name in one.aside] for name in kept[0].aside
    }
    words.extend(f"{name} {spread(values)}" for name, values in asides.items())
    return Found(row.name, row.bar, within, ", ".join(words), kept)


def spread(values: list[float | str]) -> str:
    """What was seen aside in all rounds: the words, or the lowest and the highest number."""
    numbers = [value for value in values if not isinstance(value, str)]
    if not numbers:
        return " ".join(sorted(map(str, set(values))))
    low, high = min(numbers), max(numbers)
    return f"{low:,.3g}" if low == high else f"{low:,.3g}–{high:,.3g}"
