"""A part of a trace, faster or slower: rows between two times, or the first rows.

Predecessors that are outside of the part are dropped from `after`. Numbers of rows stay those of
the trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torr.sources.traces.row import TraceRow
    from torr.sources.traces.trace_format import Clock


@dataclass(frozen=True, slots=True)
class TraceWindow:
    """Which rows are used: those of `from_ns` and later that are earlier than `to_ns`.

    Times are those of the trace, or of each session where the format's clock is that of sessions;
    they then begin at `from_ns`. With `time_scale` 2, times and pauses are half as long.
    """

    from_ns: int = 0
    to_ns: int | None = None
    time_scale: float = 1.0
    most_rows: int | None = None

    @property
    def is_everything(self) -> bool:
        """Whether all rows are used as they are."""
        return self == TraceWindow()

    def has(self, row: TraceRow) -> bool:
        """Return whether the row's time is inside; rows without times always are."""
        if row.at_ns is None:
            return True
        return self.from_ns <= row.at_ns and (self.to_ns is None or row.at_ns < self.to_ns)

    def moved(self, row: TraceRow) -> TraceRow:
        """Return the row with the times of the window."""
        if not self.from_ns and self.time_scale == 1:
            return row
        at_ns = None if row.at_ns is None else self._scaled(row.at_ns - self.from_ns)
        return replace(row, at_ns=at_ns, pause_ns=self._scaled(row.pause_ns))

    def _scaled(self, nanoseconds: int) -> int:
        return nanoseconds if self.time_scale == 1 else round(nanoseconds / self.time_scale)


def windowed(rows: Iterable[TraceRow], window: TraceWindow, clock: Clock) -> Iterator[TraceRow]:
    """Yield the rows of a window; no more rows are read than it needs."""
    if window.is_everything:
        return iter(rows)
    inside = _of_trace(rows, window) if clock == "trace" else _of_sessions(rows, window)
    return islice(inside, window.most_rows)


def _of_trace(rows: Iterable[TraceRow], window: TraceWindow) -> Iterator[TraceRow]:
    """Yield rows in the order of their times: those inside follow one another."""
    first: int | None = None
    for row in rows:
        if window.has(row):
            first = row.number if first is None else first
            after = tuple(number for number in row.after if number >= first)
            yield window.moved(row if after == row.after else replace(row, after=after))
        elif row.at_ns is not None and row.at_ns >= window.from_ns:
            return


def _of_sessions(rows: Iterable[TraceRow], window: TraceWindow) -> Iterator[TraceRow]:
    """Yield rows that stand together by sessions, whose followers can be counted again."""
    left = window.most_rows
    for _, session in groupby(rows, lambda row: row.session):
        inside = list(islice(filter(window.has, session), left))
        followers = dict.fromkeys((row.number for row in inside), 0)
        for row in inside:
            for number in followers.keys() & row.after:
                followers[number] += 1
        for row in inside:
            after = tuple(number for number in row.after if number in followers)
            yield window.moved(replace(row, after=after, followers=followers[row.number]))
        if left is not None:
            left -= len(inside)
            if left <= 0:
                return
