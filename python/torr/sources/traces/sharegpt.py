"""Conversations of ShareGPT: a JSON array, or JSON lines; without times.

Each text of a user is a row with this text alone, since a server gives other answers than the
recorded ones. The trace has no lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.sources.prompts import HUMAN, can_be_sent
from torr.sources.traces.json_values import read_objects
from torr.sources.traces.row import TraceCounts, TraceMessage, TraceRow
from torr.sources.traces.trace_format import ReadOptions, TraceFormat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.sources.traces.source import TraceSource


def read(source: TraceSource, _options: ReadOptions, counts: TraceCounts) -> Iterator[TraceRow]:
    """Yield the rows of each conversation; raise FileError."""
    number = session = 0
    for _, entry in read_objects(source.path, source.text()):
        turns = _turns(entry)
        if not turns:
            counts.left_out["no_prompt"] += 1
            continue
        yield from _rows(turns, number, session)
        number += len(turns)
        session += 1


def _turns(entry: dict[str, Any]) -> list[str]:
    """Return what users wrote."""
    said = entry.get("conversations")
    return [
        text
        for part in (said if isinstance(said, list) else [])
        if isinstance(part, dict) and part.get("from") in HUMAN
        if isinstance(text := part.get("value"), str) and text.strip() and can_be_sent(text)
    ]


def _rows(turns: Sequence[str], number: int, session: int) -> Iterator[TraceRow]:
    for turn, prompt in enumerate(turns, start=1):
        own = number + turn - 1
        yield TraceRow(
            number=own,
            at_ns=None,
            session=session,
            turn=turn,
            after=() if turn == 1 else (own - 1,),
            followers=0 if turn == len(turns) else 1,
            pause_ns=0,
            input_tokens=None,
            output_tokens=None,
            messages=(TraceMessage("user", prompt),),
        )


FORMAT = TraceFormat(
    "sharegpt",
    "ShareGPT",
    "none",
    read,
    keys=frozenset({"conversations"}),
    has_sessions=True,
    has_texts=True,
)
