"""What a trace is like: rows, sessions, lengths, shared beginnings; in bounded memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.sources.traces.prefix_share import PrefixShare
from torr.sources.traces.sessions import RecentlyUsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torr.sources.traces.row import TraceRow

# A bin has numbers whose first 8 binary digits are equal.
_EXACT_BITS = 8
_MOST_MODELS = 100
_MOST_SESSIONS = 1 << 16


@dataclass(frozen=True, slots=True)
class LengthStatistics:
    """The lengths of rows in tokens; percentiles are at most 1 % too high."""

    n: int
    total: int
    least: int
    most: int
    p50: int
    p90: int
    p99: int

    @property
    def mean(self) -> float:
        """The mean length."""
        return self.total / self.n


class LengthCounter:
    """Counts lengths in bins that are 1 % wide."""

    def __init__(self) -> None:
        self._bins: Counter[int] = Counter()
        self._total = self._most = 0
        self._least: int | None = None

    def add(self, length: int) -> None:
        """Count a length."""
        low_bits = max(0, length.bit_length() - _EXACT_BITS)
        self._bins[length | ((1 << low_bits) - 1)] += 1
        self._total += length
        self._most = max(self._most, length)
        self._least = length if self._least is None else min(self._least, length)

    def statistics(self) -> LengthStatistics | None:
        """Return the statistics; None without lengths."""
        if self._least is None:
            return None
        n = self._bins.total()
        p50, p90, p99 = self._percentiles(n, (50, 90, 99))
        return LengthStatistics(n, self._total, self._least, self._most, p50, p90, p99)

    def _percentiles(self, n: int, percents: Iterable[int]) -> Iterator[int]:
        """Yield the smallest lengths that so many percent do not exceed; `percents` ascend."""
        bins = iter(sorted(self._bins.items()))
        length, below = next(bins)
        for percent in percents:
            while below * 100 < n * percent:
                length, count = next(bins)
                below += count
            yield min(length, self._most)


class TraceSummary:
    """Adds rows up; `share` has how much of them a prefix cache without an end would have."""

    def __init__(self) -> None:
        self.rows = 0
        self.sessions = 0
        self.images = 0
        self.last_ns: int | None = None
        """The time of the last row, from the first; None where the trace has no times."""
        self.models: set[str] = set()
        """The names of the first models."""
        self.share = PrefixShare()
        self._input, self._output = LengthCounter(), LengthCounter()
        self._sessions: RecentlyUsed[bool] = RecentlyUsed(_MOST_SESSIONS)

    @property
    def input(self) -> LengthStatistics | None:
        """The lengths of the prompts; None where the trace has none."""
        return self._input.statistics()

    @property
    def output(self) -> LengthStatistics | None:
        """The lengths of the answers; None where the trace has none."""
        return self._output.statistics()

    def add(self, row: TraceRow) -> None:
        """Add a row."""
        self.rows += 1
        self.images += row.images
        self._add_session(row)
        if row.at_ns is not None:
            self.last_ns = max(row.at_ns, self.last_ns or 0)
        if row.input_tokens is not None:
            self._input.add(row.input_tokens)
        if row.output_tokens is not None:
            self._output.add(row.output_tokens)
        if row.model is not None and len(self.models) < _MOST_MODELS:
            self.models.add(row.model)
        self.share.add(row)

    def passing(self, rows: Iterable[TraceRow]) -> Iterator[TraceRow]:
        """Yield the rows, each added before it is passed on."""
        for row in rows:
            self.add(row)
            yield row

    def _add_session(self, row: TraceRow) -> None:
        """Count a session; one that returns after very many others is counted again."""
        is_alone = row.session == row.number and row.followers == 0
        if is_alone or self._sessions.get(row.session) is None:
            self.sessions += 1
        if not is_alone:
            self._sessions.store(row.session, True)
