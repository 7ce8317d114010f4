"""Tables of streams: of one level, of all levels of a ladder, and of requests beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.wording import heading
from torr.report.tables.cells import TIME_STATS, Table, cell, is_bound, usable
from torr.report.text.streaming import stream_facts, stream_times
from torr.results.base import Statistics
from torr.stats.series import RATES, by_concurrency, noun_of
from torr.units import show_ms, show_percent, show_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torr.results.level import Level, NamedRequest
    from torr.results.result import RunResult
    from torr.results.stream import StreamStatistics

_NAMES = (
    *("ttfe mean", "ttfe p50", "ttfe p95", "ttft mean", "ttft p50", "ttft p95"),
    *("tpot mean", "tokens/s", "goodput"),
)


def streams(level: Level) -> Table | None:
    """Return the percentiles of one level's streams: one row a kind of time, and their rate.

    Percentiles for which no row has enough values are left out.
    """
    times = stream_times(level)
    each = level.stream.stream_tokens_per_s if level.stream else None
    every = [stats for _, stats in times] + ([each] if each else [])
    carried = [stat for stat in TIME_STATS if any(s.value(stat) is not None for s in every)]
    rows = [
        (name, f"{stats.n:,}", *(cell(stats, stat) for stat in carried)) for name, stats in times
    ]
    if each:
        rates = (show_rate(each.value(stat)) for stat in carried)
        rows.append((say("tokens/s each"), f"{each.n:,}", *rates))
    columns = (say("stream"), "n", *(stat.replace("_", ".") for stat in carried))
    return Table(columns, tuple(rows), names=frozenset({0})) if rows else None


def tokens(level: Level) -> Table | None:
    """Return what a level's streams carried, one row a number."""
    rows = tuple(stream_facts(level).items())
    return Table(("", say("measured")), rows, frozenset({0, 1})) if rows else None


def streams_of_levels(result: RunResult) -> Table | None:
    """Return one row a level of concurrency: first texts, pace, tokens and goodput of its streams.

    Each number is the median of its rounds.
    """
    found = by_concurrency(result.levels)
    columns, rows = side_by_side([Streams.of(usable(rounds)) for rounds in found.values()])
    if not columns:
        return None
    levels = (f"{concurrency:,}" for concurrency in found)
    named = tuple((at, *cells) for at, cells in zip(levels, rows, strict=True))
    return Table((heading(noun_of(result.levels)), *columns), named, frozenset())


@dataclass(frozen=True)
class Streams:
    """The `stream` of each round of a row; `at_least` says that its rates are lower bounds."""

    rounds: tuple[StreamStatistics, ...]
    at_least: bool = False

    @classmethod
    def of(cls, levels: Iterable[Level]) -> Streams:
        """Take those of levels, of which some may not stream."""
        known = [level for level in levels if level.stream]
        at_least = any(level.is_contended for level in known)
        return cls(tuple(level.stream for level in known if level.stream), at_least)

    @classmethod
    def of_request(cls, request: NamedRequest) -> Streams:
        """Take that of a named request, which may not stream."""
        return cls((request.stream,) if request.stream else ())

    def value(self, name: str) -> float | None:
        """Return the median of a number by its name in a condition: `ttft p95`, `tokens/s`."""
        metric, _, stat = name.partition(" ")
        if stat:
            values = [stats.value(stat) for stats in self._times(metric)]
        else:
            values = [getattr(stream, RATES[metric]) for stream in self.rounds]
        known = [value for value in values if value is not None]
        return median(known) if known else None

    def cell(self, name: str) -> str:
        """Return a number for people, marked where it is a lower bound."""
        value = self.value(name)
        if name == "goodput" or value is None:
            return show_percent(value)
        if name == "tokens/s":
            return f"{'≥ ' * self.at_least}{show_rate(value)}"
        metric, _, stat = name.partition(" ")
        bound = any(is_bound(stats, stat) for stats in self._times(metric))
        return f"{'≥ ' * bound}{show_ms(value)}"

    def _times(self, metric: str) -> list[Statistics]:
        return [stream.time(f"{metric}_ms") or Statistics(n=0) for stream in self.rounds]


def side_by_side(rows: Sequence[Streams]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the columns that some row has a number for, and the cells of each row.

    A mean of first texts stands where some row has too few streams for their median, and first
    events where no stream has a text.
    """
    known = {name for row in rows for name in _NAMES if row.value(name) is not None}
    shown = [name for name in _NAMES if name in known and not _is_left_out(name, known, rows)]
    return tuple(shown), [tuple(row.cell(name) for name in shown) for row in rows]


def _is_left_out(name: str, known: set[str], rows: Sequence[Streams]) -> bool:
    metric, _, stat = name.partition(" ")
    if metric == "ttfe" and "ttft mean" in known:
        return True
    if stat != "mean" or metric == "tpot":
        return False
    measured = [row for row in rows if row.value(name) is not None]
    return all(row.value(f"{metric} p50") is not None for row in measured)
