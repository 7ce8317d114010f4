"""Conversations of ShareGPT: a JSON array, or JSON lines; without times.

Each text of a user is a row with this text alone, since a server gives other answers than the
recorded ones. Their lengths are known if `ReadOptions.count_tokens` counts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.sources.prompts import HUMAN, can_be_sent
from torr.sources.traces.json_values import read_objects
from torr.sources.traces.row import TraceCounts, TraceRow
from torr.sources.traces.trace_format import ConversationFilter, ReadOptions, TraceFormat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.sources.traces.source import TraceSource

    # A text of a user, and the answer to it, which may be empty.
    Turn = tuple[str, str]

_BYTES_PER_TOKEN = 4


def read(source: TraceSource, options: ReadOptions, counts: TraceCounts) -> Iterator[TraceRow]:
    """Yield the rows of each conversation; raise FileError."""
    number = session = 0
    for _, entry in read_objects(source.path, source.text()):
        turns = _turns(entry)
        why = _left_out(turns, options)
        if why is not None:
            counts.left_out[why] += 1
            continue
        rows = _rows(turns, number, session, options)
        yield from rows
        number += len(rows)
        session += 1


def _turns(entry: dict[str, Any]) -> list[Turn]:
    """Return what users wrote and what was answered; empty where there is nothing of a user."""
    said = entry.get("conversations")
    turns: list[Turn] = []
    for part in said if isinstance(said, list) else []:
        text = part.get("value") if isinstance(part, dict) else None
        if not isinstance(text, str) or not text.strip() or not can_be_sent(text):
            continue
        if part.get("from") in HUMAN:
            turns.append((text, ""))
        elif turns and part.get("from") != "system":
            turns[-1] = (turns[-1][0], turns[-1][1] + text)
    return turns


def _left_out(turns: Sequence[Turn], options: ReadOptions) -> str | None:
    """Return why a conversation is left out; None if it is read."""
    if not turns:
        return "no_prompt"
    limits = options.conversations
    if limits is None:
        return None
    return _beyond(limits, *_lengths(turns[0], options))


def _beyond(limits: ConversationFilter, prompt: int, answer: int) -> str | None:
    if prompt < limits.least_tokens or answer < limits.least_tokens:
        return "too_short"
    if prompt > limits.most_prompt_tokens or prompt + answer > limits.most_total_tokens:
        return "too_long"
    return None


def _lengths(turn: Turn, options: ReadOptions) -> tuple[int, int]:
    """Return the tokens of a prompt and of its answer, estimated where nothing counts them."""
    if options.count_tokens is None:
        prompt, answer = (len(text.encode()) // _BYTES_PER_TOKEN for text in turn)
    else:
        prompt, answer = options.count_tokens(turn)
    return prompt, answer


def _rows(turns: Sequence[Turn], number: int, session: int, options: ReadOptions) -> list[TraceRow]:
    limits = options.conversations
    used = turns[: limits.most_turns] if limits else turns
    rows = []
    for turn, (prompt, answer) in enumerate(used, start=1):
        prompt_tokens, answer_tokens = None, None
        if options.count_tokens is not None:
            prompt_tokens, answer_tokens = _lengths((prompt, answer), options)
        own = number + turn - 1
        rows.append(
            TraceRow(
                number=own,
                at_ns=None,
                session=session,
                turn=turn,
                after=() if turn == 1 else (own - 1,),
                followers=0 if turn == len(used) else 1,
                pause_ns=0,
                input_tokens=prompt_tokens,
                output_tokens=answer_tokens or None,
                messages=(("user", prompt),),
            )
        )
    return rows


FORMAT = TraceFormat(
    "sharegpt", "ShareGPT", "none", read, keys=frozenset({"conversations"}), has_sessions=True
)
