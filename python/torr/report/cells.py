"""What tables are made of: cells of text, and which rounds of a level they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torr.stats.series import Level, is_cut, is_limited, is_starved
from torr.units import show_ms

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
    found = [level for level in rounds if not is_limited(level)] or rounds
    found = [level for level in found if not is_cut(level)] or found
    return [level for level in found if not is_starved(level)] or found


def is_bound(stats: Mapping[str, Any], stat: str) -> bool:
    """Whether a number is a lower bound."""
    return stats.get(stat) is not None and stat in (stats.get("at_least") or ())


def cell(stats: Mapping[str, Any], stat: str) -> str:
    """Return a time, marked where it is a lower bound."""
    text = show_ms(stats.get(stat))
    return f"≥ {text}" if is_bound(stats, stat) else text
