"""The type of a table, its builder, and the cells that many tables share."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Generic, TypeVar

from torr.units import show_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torr.results.base import Statistics
    from torr.results.level import Level

TIME_STATS = ("p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max", "mean", "stdev")

_Item = TypeVar("_Item")


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


class TableBuilder(Generic[_Item]):
    """A table with a row for each item, whose columns are added one by one."""

    def __init__(self, items: Iterable[_Item]) -> None:
        self.items = list(items)
        self._columns: list[tuple[str, Callable[[_Item], str]]] = []
        self._words: set[int] = set()
        self._names: set[int] = set()

    def number(self, heading: str, cell: Callable[[_Item], str]) -> None:
        """Add a column of numbers."""
        self._columns.append((heading, cell))

    def text(self, heading: str, cell: Callable[[_Item], str], *, breaks: bool = False) -> None:
        """Add a column of text; where it `breaks`, long names may be broken."""
        self._words.add(len(self._columns))
        if breaks:
            self._names.add(len(self._columns))
        self._columns.append((heading, cell))

    def build(self) -> Table | None:
        """Return the table; None where there are no items."""
        if not self.items:
            return None
        rows = tuple(tuple(cell(item) for _, cell in self._columns) for item in self.items)
        headings = tuple(heading for heading, _ in self._columns)
        return Table(headings, rows, frozenset(self._words), frozenset(self._names))


def usable(rounds: Sequence[Level]) -> Sequence[Level]:
    """Return the rounds that claim something, or all of them where none does."""
    levels = [level for level in rounds if not level.is_limited] or rounds
    levels = [level for level in levels if not level.cut_short] or levels
    return [level for level in levels if not level.is_starved] or levels


def is_bound(stats: Statistics, stat: str) -> bool:
    """Return whether a number is a lower bound."""
    return stats.value(stat) is not None and stats.is_lower_bound(stat)


def bounded(text: str, *, at_least: bool) -> str:
    """Return a number as text, marked with `≥` where it is a lower bound."""
    return f"≥ {text}" if at_least and text != "–" else text


def show_spread(spread: float | None) -> str:
    """Return a coefficient of variation as percent."""
    return "–" if spread is None else f"{100 * spread:.1f} %"


def time_cell(stats: Statistics, stat: str) -> str:
    """Return a time, marked where it is a lower bound."""
    return bounded(show_ms(stats.value(stat)), at_least=is_bound(stats, stat))


def median_of(values: Iterable[float | None]) -> float | None:
    """Return the median of the values that are known; None where none is."""
    known = [value for value in values if value is not None]
    return median(known) if known else None
