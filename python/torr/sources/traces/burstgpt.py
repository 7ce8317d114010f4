"""BurstGPT's traces: CSV with lengths, of some versions also with sessions and elapsed times.

Times are in seconds. Requests without response tokens failed: they are left out and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.sources.times import seconds_ns
from torr.sources.traces.csv_rows import CsvRow, read_csv
from torr.sources.traces.order import in_order, spread_in_seconds
from torr.sources.traces.row import Draft, TraceCounts, TraceRow
from torr.sources.traces.sessions import one_by_one, session_of
from torr.sources.traces.trace_format import ReadOptions, TraceFormat, with_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.sources.traces.source import TraceSource

_COLUMNS = ("Timestamp", "Request tokens", "Response tokens")


def read(source: TraceSource, _options: ReadOptions, counts: TraceCounts) -> Iterator[TraceRow]:
    """Yield the rows; raise FileError."""
    drafts = map(_draft, read_csv(source, _COLUMNS))
    ordered = in_order(with_tokens(drafts, counts), source.path)
    return one_by_one(spread_in_seconds(ordered))


def _draft(row: CsvRow) -> Draft:
    session = row.text("Session ID")
    return Draft(
        row.line,
        row.time("Timestamp", seconds_ns(row.text("Timestamp"))),
        row.tokens("Request tokens"),
        row.tokens("Response tokens"),
        took_ns=seconds_ns(row.text("Elapsed time")),
        session=session_of(session) if session else None,
        model=row.text("Model") or None,
    )


FORMAT = TraceFormat(
    "burstgpt", "BurstGPT", "trace", read, columns=frozenset(_COLUMNS), has_sessions=True
)
