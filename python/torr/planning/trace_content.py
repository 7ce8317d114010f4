"""What a load reads of its trace, counted as it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.results.trace import TokenLengths, TraceContent
from torr.sources.traces.summary import TraceSummary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torr.planning.trace import TraceInput
    from torr.sources.traces.row import TraceCounts, TraceRow
    from torr.sources.traces.summary import LengthStatistics


class CountedTrace:
    """A trace whose rows are counted while a load reads them, anew for each level."""

    def __init__(self, source: TraceInput) -> None:
        self._source = source
        self._summary: TraceSummary | None = None
        self._counts: TraceCounts | None = None
        self._is_whole = False

    def rows(self, users: int | None) -> Iterator[TraceRow]:
        """Yield the rows from the first one on, for so many users or by their times."""
        self._summary, self._is_whole = TraceSummary(), False
        rows, self._counts = self._source.opened(users)
        return self._not_none(self._summary.passing(rows))

    def _not_none(self, rows: Iterator[TraceRow]) -> Iterator[TraceRow]:
        """Yield the rows; raise UsageError if there is none."""
        is_empty = True
        for row in rows:
            is_empty = False
            yield row
        self._is_whole = True
        require_row(self._source.path, is_there=not is_empty)

    def content(self) -> TraceContent | None:
        """Return what was read since `rows` was last called; None if it never was."""
        summary, counts = self._summary, self._counts
        if summary is None or counts is None:
            return None
        share = summary.share.of_tokens
        return TraceContent(
            format=self._source.format.name,
            rows=summary.rows,
            sessions=summary.sessions,
            is_whole=self._is_whole,
            input_tokens=_lengths(summary.input),
            output_tokens=_lengths(summary.output),
            repeated_tokens=None if share is None else min(100.0, 100 * share),
            is_sampled=summary.share.is_estimate,
            skipped=dict(counts.left_out),
            without_parent=counts.without_parent,
            images=summary.images,
        )


def require_row(path: Path, *, is_there: bool) -> None:
    """Raise UsageError if a part of a trace has no row."""
    require(
        is_there,
        say("{path} has no request to send between --trace-from and --trace-to", path=path),
    )


def _lengths(lengths: LengthStatistics | None) -> TokenLengths | None:
    if lengths is None:
        return None
    return TokenLengths(
        total=lengths.total,
        mean=lengths.mean,
        p50=lengths.p50,
        p99=lengths.p99,
        max=lengths.most,
    )
