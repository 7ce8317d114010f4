"""Traces of Azure's inference of language models: CSV with times and lengths.

Times have up to seven digits of a second, or none, and a zone or none, which then is UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.sources.times import iso_ns
from torr.sources.traces.csv_rows import CsvRow, read_csv
from torr.sources.traces.order import in_order
from torr.sources.traces.row import Draft, TraceCounts, TraceRow
from torr.sources.traces.sessions import alone
from torr.sources.traces.trace_format import ReadOptions, TraceFormat, with_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.sources.traces.source import TraceSource

_COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")


def read(source: TraceSource, _options: ReadOptions, counts: TraceCounts) -> Iterator[TraceRow]:
    """Yield the rows; raise FileError."""
    drafts = map(_draft, read_csv(source, _COLUMNS))
    return alone(in_order(with_tokens(drafts, counts), source.path))


def _draft(row: CsvRow) -> Draft:
    return Draft(
        row.line,
        row.time("TIMESTAMP", iso_ns(row.text("TIMESTAMP"))),
        row.tokens("ContextTokens"),
        row.tokens("GeneratedTokens"),
        images=row.tokens("NumImages") if row.text("NumImages") else 0,
    )


FORMAT = TraceFormat("azure", "Azure LLM inference", "trace", read, columns=frozenset(_COLUMNS))
