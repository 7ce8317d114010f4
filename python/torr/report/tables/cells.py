"""What tables are made of: cells of text, and which rounds of a level they are of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.units import show_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.base import Statistics
    from torr.results.level import Level

TIME_STATS = ("p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max", "mean", "stdev")


@dataclass(frozen=True)
class Table:
    """Column names and rows of cells.

    `words` are the columns that hold text, not numbers; `names` those of them whose long names may
    break where there is no room.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: frozenset[int] = frozenset({0})
    names: frozenset[int] = frozenset()


def usable(rounds: Sequence[Level]) -> Sequence[Level]:
    """Return the rounds that claim something, or all of them where none does."""
    found = [level for level in rounds if not level.is_limited] or rounds
    found = [level for level in found if not level.cut_short] or found
    return [level for level in found if not level.is_starved] or found


def is_bound(stats: Statistics, stat: str) -> bool:
    """Whether a number is a lower bound."""
    return stats.value(stat) is not None and stats.is_lower_bound(stat)


def cell(stats: Statistics, stat: str) -> str:
    """Return a time, marked where it is a lower bound."""
    text = show_ms(stats.value(stat))
    return f"≥ {text}" if is_bound(stats, stat) else text
