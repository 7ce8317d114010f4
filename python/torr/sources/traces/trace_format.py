"""What a format of traces is: how it is recognised, and how it is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torr.sources.traces.row import Draft, TraceCounts, TraceRow
    from torr.sources.traces.source import TraceSource

Item = TypeVar("Item")

Clock = Literal["trace", "session", "none"]
"""What times are measured from: the start of the trace, or that of each session.

With the clock of sessions, and without one, the rows of a session stand together, session after
session.
"""

_KEY = re.compile(rb'"([\w-]+)"\s*:')


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a trace is read: `block_tokens` of a block, where they are not those of the format."""

    block_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TraceHead:
    """The names in the beginning of a file: keys of JSON, or columns of CSV."""

    keys: frozenset[str]
    columns: frozenset[str]

    @classmethod
    def of(cls, head: bytes) -> TraceHead:
        """Read the names of a file's first bytes."""
        start = head.lstrip()
        if start[:1] in {b"{", b"["}:
            keys = {key.decode(errors="replace") for key in _KEY.findall(start)}
            return cls(frozenset(keys), frozenset())
        first_line = start.partition(b"\n")[0].decode(errors="replace")
        columns = {column.strip().strip('"') for column in first_line.split(",")}
        return cls(frozenset(), frozenset(columns))


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A format: files that have all of `keys`, or all of `columns`, are in it.

    `read` yields the rows of a file; `has_sessions` is whether rows can belong to sessions,
    `has_branches` whether sub-agents can have sent some of them, `has_blocks` whether they can have
    ids of blocks, `has_texts` whether they can have messages.
    """

    name: str
    title: str
    clock: Clock
    read: Callable[[TraceSource, ReadOptions, TraceCounts], Iterator[TraceRow]]
    keys: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    has_sessions: bool = False
    has_branches: bool = False
    has_blocks: bool = False
    has_texts: bool = False

    def fits(self, head: TraceHead) -> bool:
        """Return whether a file begins as one of this format."""
        if self.keys:
            return self.keys <= head.keys
        return self.columns <= head.columns


def with_tokens(drafts: Iterable[Draft], counts: TraceCounts) -> Iterator[Draft]:
    """Yield the rows that have tokens of input and output, and count the others.

    A request without them failed, and no server can be asked for an answer of 0 tokens.
    """
    for draft in drafts:
        if draft.input_tokens == 0 or draft.output_tokens == 0:
            counts.left_out["no_tokens"] += 1
        else:
            yield draft
