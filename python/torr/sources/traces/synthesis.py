"""Traces with longer or shorter prompts and answers, in which the same rows share the same parts.

    prefix=x2,input=x0.5,output=x2

The sign of multiplication may be × as well. `prefix` is the length of the beginnings that a row
shares with another one, `input` that of the rest of the prompt, `output` that of the answer. Texts
of a trace stay as they are.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torr.errors import FileError, UsageError, require
from torr.messages.say import say
from torr.model.stream import MOST_TOKENS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from torr.sources.traces.row import TraceRow

LARGEST_FACTOR = 1000.0

_FACTOR = re.compile(r"[x×](\d+(?:\.\d*)?|\.\d+)", re.ASCII)
_FORM = say("write prefix=x2,input=x0.5,output=x2, or some of them")


@dataclass(frozen=True, slots=True)
class Synthesis:
    """By how much the parts of each row are longer."""

    prefix: float = 1.0
    input: float = 1.0
    output: float = 1.0

    @property
    def changes_prompts(self) -> bool:
        """Whether prompts have other lengths, so that it matters which blocks are shared."""
        return self.prefix != 1 or self.input != 1

    @property
    def prefix_copies(self) -> int:
        """The most blocks that one shared block becomes."""
        return math.ceil(self.prefix)

    @property
    def copies(self) -> int:
        """The most blocks that one block becomes, as a part of the beginning or of the rest."""
        return self.prefix_copies + math.ceil(self.input)


def read_synthesis(text: str) -> Synthesis:
    """Return the factors of a text such as `prefix=x2,output=x0.5`; raise UsageError."""
    factors: dict[str, float] = {}
    for part in text.split(","):
        name, _, factor = part.strip().partition("=")
        require(
            name in Synthesis.__dataclass_fields__,
            say("{part!r} is neither prefix=, input= nor output=", part=part.strip()),
            _FORM,
        )
        require(name not in factors, say("{name} is given twice", name=name), _FORM)
        factors[name] = _factor(factor)
    return Synthesis(**factors)


def _factor(text: str) -> float:
    found = _FACTOR.fullmatch(text)
    if found is None:
        raise UsageError(say("{text!r} is not a factor such as x2", text=text), _FORM)
    factor = float(found[1])
    require(
        0 < factor <= LARGEST_FACTOR,
        say(
            "the factor {text!r} is not above 0 and at most {largest:g}",
            text=text,
            largest=LARGEST_FACTOR,
        ),
    )
    return factor


def shared_beginnings(rows: Iterable[TraceRow]) -> frozenset[int]:
    """Return the hashes of beginnings that more than one row has; the memory grows with them."""
    known: set[int] = set()
    shared: set[int] = set()
    for row in rows:
        own = set(_beginnings(row.hash_ids))
        shared |= own & known
        known |= own
    return frozenset(shared)


def _beginnings(ids: Sequence[int]) -> Iterator[int]:
    """Yield a hash of the ids up to each one."""
    beginning = 0
    for hash_id in ids:
        beginning = hash((beginning, hash_id))
        yield beginning


def with_output(row: TraceRow, synthesis: Synthesis, file: Path) -> TraceRow:
    """Return the row with another length of its answer alone; raise FileError."""
    if row.output_tokens is None:
        return row
    tokens = _length(row.output_tokens * synthesis.output, row, file)
    return replace(row, output_tokens=tokens)


def scaled(row: TraceRow, synthesis: Synthesis, shared: Collection[int], file: Path) -> TraceRow:
    """Return the row with other lengths; raise FileError where it is too long.

    `shared` are the hashes of beginnings that more than one row has. Rows that shared n leading
    blocks share `prefix` times as many; ids that differed still differ.
    """
    row = with_output(row, synthesis, file)
    if row.input_tokens is None or row.messages:
        return row
    if not row.hash_ids:
        tokens = _length(row.input_tokens * synthesis.input, row, file)
        return replace(row, input_tokens=tokens)
    return _with_blocks(row, row.input_tokens, synthesis, shared, file)


def _length(tokens: float, row: TraceRow, file: Path) -> int:
    """Return a length of a row, at least 1; raise FileError where it is too long."""
    length = max(1, round(tokens))
    if length > MOST_TOKENS:
        raise FileError(
            file,
            row.line,
            say(
                "{tokens:,} tokens with --synthesis: the maximum is {most:,}",
                tokens=length,
                most=MOST_TOKENS,
            ),
            say("use a smaller factor"),
        )
    return length


def _with_blocks(
    row: TraceRow, tokens: int, synthesis: Synthesis, shared: Collection[int], file: Path
) -> TraceRow:
    # A last block that is not full belongs to the rest, also where it is shared.
    common = _leading(row.hash_ids[: tokens // row.block_tokens], shared)
    rest_tokens = round((tokens - common * row.block_tokens) * synthesis.input)
    prefix_blocks = _blocks_before(common, synthesis.prefix)
    whole = _length(prefix_blocks * row.block_tokens + rest_tokens, row, file)
    prefix = [
        hash_id * synthesis.copies + copy
        for place, hash_id in enumerate(row.hash_ids[:common])
        for copy in range(_blocks(place, synthesis.prefix))
    ]
    rest = _rest(row, tokens - common * row.block_tokens, rest_tokens, common, synthesis)
    return replace(row, input_tokens=whole, hash_ids=(*prefix, *rest))


def _leading(ids: tuple[int, ...], shared: Collection[int]) -> int:
    """Return the number of leading ids that another row begins with, too."""
    beginnings = enumerate(_beginnings(ids))
    return next((place for place, each in beginnings if each not in shared), len(ids))


def _blocks(place: int, factor: float) -> int:
    """Return how many blocks the shared block at a place becomes: all before it are rounded."""
    return _blocks_before(place + 1, factor) - _blocks_before(place, factor)


def _blocks_before(place: int, factor: float) -> int:
    return math.floor(place * factor + 0.5)


def _rest(
    row: TraceRow, tokens: int, new_tokens: int, common: int, synthesis: Synthesis
) -> list[int]:
    """Return ids for the blocks after the shared ones, as many as the trace would have."""
    ids = row.hash_ids[common:]
    if not ids:
        return []
    last_has_id = len(ids) * row.block_tokens >= tokens
    blocks = -(-new_tokens // row.block_tokens) if last_has_id else new_tokens // row.block_tokens
    most = len(ids) * math.ceil(synthesis.input)
    return [
        ids[place % len(ids)] * synthesis.copies + synthesis.prefix_copies + place // len(ids)
        for place in range(min(blocks, most))
    ]
