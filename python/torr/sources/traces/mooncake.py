"""Mooncake's traces: JSON lines with lengths and one id for each block of 512 tokens.

An id stands for a block and for everything before it. Times are in milliseconds. Traces of this
form may have other blocks: `--block-tokens`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from torr.errors import FileError
from torr.messages.say import say
from torr.model.stream import MOST_TOKENS
from torr.sources.traces.order import in_order
from torr.sources.traces.row import Draft, TraceCounts, TraceRow
from torr.sources.traces.sessions import alone
from torr.sources.traces.trace_format import ReadOptions, TraceFormat, with_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.sources.traces.source import TraceSource

Tokens = Annotated[int, Meta(ge=0, le=MOST_TOKENS)]
BlockId = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]

BLOCK_TOKENS = 512
_MS_NS = 1_000_000


class _Row(msgspec.Struct, gc=False):
    timestamp: Annotated[float, Meta(ge=-1e15, le=1e15)]
    input_length: Tokens
    output_length: Tokens
    hash_ids: tuple[BlockId, ...] = ()


def read(source: TraceSource, options: ReadOptions, counts: TraceCounts) -> Iterator[TraceRow]:
    """Yield the rows; raise FileError."""
    drafts = _drafts(source, options.block_tokens or BLOCK_TOKENS)
    return alone(in_order(with_tokens(drafts, counts), source.path))


def _drafts(source: TraceSource, block_tokens: int) -> Iterator[Draft]:
    decoder = msgspec.json.Decoder(_Row)
    for line, content in source.lines():
        row = source.decode(decoder, content, line)
        blocks = -(-row.input_length // block_tokens)
        if row.hash_ids and len(row.hash_ids) != blocks:
            raise _other_blocks(source, line, row, block_tokens)
        yield Draft(
            line,
            round(row.timestamp * _MS_NS),
            row.input_length,
            row.output_length,
            hash_ids=row.hash_ids,
            block_tokens=block_tokens,
        )


def _other_blocks(source: TraceSource, line: int, row: _Row, block_tokens: int) -> FileError:
    return FileError(
        source.path,
        line,
        say(
            "{n:,} hash_ids for {tokens:,} tokens: blocks are not of {block_tokens} tokens",
            n=len(row.hash_ids),
            tokens=row.input_length,
            block_tokens=block_tokens,
        ),
        say("state how many tokens a block has: --block-tokens N"),
    )


FORMAT = TraceFormat(
    "mooncake",
    "Mooncake",
    "trace",
    read,
    keys=frozenset({"timestamp", "input_length", "output_length"}),
    has_blocks=True,
)
