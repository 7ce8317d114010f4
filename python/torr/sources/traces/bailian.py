"""Bailian's traces: JSON lines with chats that name their parents, and blocks of 16 tokens.

An id stands for a block's own tokens, wherever they are. Times are in seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from torr.sources.times import nearest_ns
from torr.sources.traces.mooncake import BlockId, Tokens  # noqa: TC001 - msgspec needs them
from torr.sources.traces.order import in_order
from torr.sources.traces.row import Draft, TraceCounts, TraceRow
from torr.sources.traces.sessions import of_parents
from torr.sources.traces.trace_format import ReadOptions, TraceFormat, with_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.sources.traces.source import TraceSource

BLOCK_TOKENS = 16
_ROOT = -1


class _Row(msgspec.Struct, gc=False):
    chat_id: BlockId
    timestamp: Annotated[float, Meta(ge=-1e12, le=1e12)]
    input_length: Tokens
    output_length: Tokens
    parent_chat_id: Annotated[int, Meta(ge=_ROOT, le=(1 << 63) - 1)] = _ROOT
    turn: Annotated[int, Meta(ge=0, le=1 << 30)] = 0
    hash_ids: tuple[BlockId, ...] = ()


def read(source: TraceSource, options: ReadOptions, counts: TraceCounts) -> Iterator[TraceRow]:
    """Yield the rows; raise FileError."""
    drafts = _drafts(source, options.block_tokens or BLOCK_TOKENS)
    return of_parents(in_order(with_tokens(drafts, counts), source.path), counts)


def _drafts(source: TraceSource, block_tokens: int) -> Iterator[Draft]:
    decoder = msgspec.json.Decoder(_Row)
    for line, content in source.lines():
        row = source.decode(decoder, content, line)
        yield Draft(
            line,
            nearest_ns(row.timestamp),
            row.input_length,
            row.output_length,
            session=row.chat_id,
            parent=None if row.parent_chat_id == _ROOT else row.parent_chat_id,
            turn=row.turn,
            hash_ids=row.hash_ids,
            block_tokens=block_tokens,
        )


FORMAT = TraceFormat(
    "bailian",
    "Bailian",
    "trace",
    read,
    keys=frozenset({"chat_id", "parent_chat_id", "input_length", "output_length"}),
    has_sessions=True,
    has_blocks=True,
)
