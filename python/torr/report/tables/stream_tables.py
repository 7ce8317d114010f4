"""Tables of streams: of one level, of all levels of a ladder, and of requests beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from torr.messages.say import say
from torr.report.data.wording import heading
from torr.report.tables.table import (
    TIME_STATS,
    Table,
    TableBuilder,
    bounded,
    is_bound,
    median_of,
    time_cell,
    usable,
)
from torr.report.text.streaming import stream_facts, stream_times
from torr.results.base import Statistics
from torr.results.level import times_of_streams, unreported_in
from torr.stats.series import RATES, by_position, noun_of
from torr.units import show_ms, show_percent, show_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torr.results.level import Level, NamedRequest
    from torr.results.result import RunResult

    _TimesRow = tuple[str, Statistics, Callable[[Statistics, str], str]]

_Item = TypeVar("_Item")

_NAMES = (
    *("ttfe mean", "ttfe p50", "ttfe p95", "ttft mean", "ttft p50", "ttft p95"),
    *("message mean", "message p50", "message p95", "inter_chunk mean", "tpot mean"),
    *("tokens/s", "goodput"),
)


def streams(level: Level) -> Table | None:
    """Return the percentiles of one level's streams: one row a kind of time, and their rate.

    Percentiles for which no row has enough values are left out.
    """
    rows: list[_TimesRow] = [(name, stats, time_cell) for name, stats in stream_times(level)]
    rates = level.stream.stream_tokens_per_s if level.stream else None
    if rates:
        rows.append((say("tokens/s each"), rates, lambda stats, stat: show_rate(stats.value(stat))))
    table = TableBuilder(rows)
    table.text(say("stream"), lambda row: row[0], breaks=True)
    table.number("n", lambda row: f"{row[1].n:,}")
    for stat in TIME_STATS:
        if any(stats.value(stat) is not None for _, stats, _ in rows):
            _percentile(table, stat)
    return table.build()


def tokens(level: Level) -> Table | None:
    """Return the tokens, goodput and events of a level's streams, one row a number."""
    rows = tuple(stream_facts(level).items())
    return Table(("", say("measured")), rows, frozenset({0, 1})) if rows else None


def streams_of_levels(result: RunResult) -> Table | None:
    """Return one row a level of concurrency: first texts or messages, pace, tokens and goodput.

    Each number is the median of its rounds.
    """
    rounds_of = by_position(result.levels)
    table = TableBuilder((at, Streams.of(usable(rounds))) for at, rounds in rounds_of.items())
    table.number(heading(noun_of(result.levels)), lambda row: f"{row[0]:,}")
    return table.build() if add_streams(table, lambda row: row[1]) else None


@dataclass(frozen=True)
class Streams:
    """The rounds of a row that stream; `at_least` says that their rates are lower bounds."""

    rounds: tuple[Level | NamedRequest, ...]
    at_least: bool = False

    @classmethod
    def of(cls, levels: Iterable[Level]) -> Streams:
        """Take levels, of which some may not stream."""
        known = tuple(level for level in levels if level.stream)
        return cls(known, any(level.is_contended for level in known))

    @classmethod
    def of_request(cls, request: NamedRequest) -> Streams:
        """Take a named request, which may not stream."""
        return cls((request,) if request.stream else ())

    def value(self, name: str) -> float | None:
        """Return the median of a number by its name in a condition: `ttft p95`, `tokens/s`."""
        metric, _, stat = name.partition(" ")
        if stat:
            return median_of(stats.value(stat) for stats in self._times(metric))
        return median_of(getattr(part.stream, RATES[metric]) for part in self.rounds)

    def cell(self, name: str) -> str:
        """Return a number for people, marked where it is a lower bound."""
        value = self.value(name)
        if name == "goodput" or value is None:
            return show_percent(value)
        if name == "tokens/s":
            lacks = any(unreported_in(part, RATES[name]) for part in self.rounds)
            return bounded(show_rate(value), at_least=self.at_least or lacks)
        metric, _, stat = name.partition(" ")
        at_least = any(is_bound(stats, stat) for stats in self._times(metric))
        return bounded(show_ms(value), at_least=at_least)

    def _times(self, metric: str) -> list[Statistics]:
        return [times_of_streams(part).get(metric) or Statistics(n=0) for part in self.rounds]


def add_streams(table: TableBuilder[_Item], streams_of: Callable[[_Item], Streams]) -> bool:
    """Add the columns for which some row has a number; return whether there are any.

    A mean stands beside percentiles where some row has too few streams for their median; first
    events stand where no stream has a text, and gaps where no server counts tokens.
    """
    rows = list(map(streams_of, table.items))
    known = {name for row in rows for name in _NAMES if row.value(name) is not None}
    for name in _NAMES:
        if name in known and not _is_left_out(name, known, rows):
            _add_stream(table, name, streams_of)
    return bool(known)


def _add_stream(
    table: TableBuilder[_Item], name: str, streams_of: Callable[[_Item], Streams]
) -> None:
    table.number(name, lambda row: streams_of(row).cell(name))


def _percentile(table: TableBuilder[_TimesRow], stat: str) -> None:
    table.number(stat.replace("_", "."), lambda row: row[2](row[1], stat))


def _is_left_out(name: str, known: set[str], rows: Sequence[Streams]) -> bool:
    metric, _, stat = name.partition(" ")
    better = {"ttfe": "ttft mean", "inter_chunk": "tpot mean"}.get(metric)
    if better in known:
        return True
    if stat != "mean" or better == "tpot mean" or metric == "tpot":
        return False
    measured = [row for row in rows if row.value(name) is not None]
    return all(row.value(f"{metric} p50") is not None for row in measured)
