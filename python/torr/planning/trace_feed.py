"""The rows of a feed, written from those of a trace: texts, order, and the row of tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torr.model.feed import FeedRow
from torr.planning.trace_turns import place_of
from torr.sources.traces.row import NOT_KNOWN, TraceMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.planning.apis.trace_parts import TraceParts
    from torr.planning.prompt_text.prompt_text import PromptText
    from torr.sources.traces.row import Messages, TraceRow

OUTPUT_COLUMN = "output"
"""The column behind those of the prompt."""

_ROWS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class FeedWriter:
    """Writes rows, whose texts are made by `text`.

    Texts that the trace has itself begin with `mark`. With `has_turns`, rows have the requests of
    their turns.
    """

    parts: TraceParts
    text: PromptText
    mark: str
    is_timed: bool
    has_turns: bool

    def batches(self, rows: Iterator[TraceRow]) -> Iterator[list[FeedRow]]:
        """Yield the rows in lists that are not empty."""
        while batch := [self._row(row) for row in islice(rows, _ROWS_AT_ONCE)]:
            yield batch

    def _row(self, row: TraceRow) -> FeedRow:
        messages = self._marked(row) or (TraceMessage("user", self.text.of_row(row)),)
        return FeedRow(
            number=row.number,
            session=row.session,
            after=row.after,
            followers=None if row.followers == NOT_KNOWN else row.followers,
            due_ns=row.at_ns or 0 if self.is_timed else 0,
            pause_ns=row.pause_ns,
            request=place_of(row) if self.has_turns else 0,
            cells=(*self.parts.write(messages), str(row.output_tokens or 1)),
            tokens=(row.input_tokens or 0, row.output_tokens or 0),
        )

    def _marked(self, row: TraceRow) -> Messages:
        """Return the messages that the trace has, with the mark where a conversation begins."""
        has_history = row.at_ns is None and row.after
        if not self.mark or not row.messages or has_history:
            return row.messages
        first, *others = row.messages
        return (replace(first, text=self.mark + first.text), *others)
