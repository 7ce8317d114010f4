"""Streams of chat completions as a server sends them: when each read brings which bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

DONE = "data: [DONE]\n\n"


@dataclass(frozen=True)
class Recorded:
    """A stream: reads in microseconds after the request, and when its body ends."""

    reads: tuple[tuple[int, str], ...]
    last_byte_us: int


def event(choices: list[dict[str, Any]], usage: int | None = None, reasoning: int = 0) -> str:
    """Return a chunk as a server writes it."""
    chunk: dict[str, Any] = {"id": "c-1", "object": "chat.completion.chunk", "choices": choices}
    if usage is not None:
        chunk["usage"] = {"prompt_tokens": 7, "completion_tokens": usage}
        if reasoning:
            chunk["usage"]["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return f"data: {json.dumps(chunk)}\n\n"


def delta(usage: int | None = None, index: int = 0, **content: object) -> str:
    """Return a chunk with a piece of the answer."""
    return event([{"index": index, "delta": content, "finish_reason": None}], usage)


def finish(usage: int | None = None, **content: object) -> str:
    """Return the chunk that says why the answer ends."""
    return event([{"index": 0, "delta": content, "finish_reason": "stop"}], usage)


def tool(arguments: str, name: str | None = None) -> str:
    """Return a chunk with a piece of a tool's call."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    call = {"index": 0, "function": function} | ({"id": "t-1", "type": "function"} if name else {})
    return delta(tool_calls=[call])


ROLE = delta(role="assistant", content="")


def text(said: str, usage: int | None = None) -> str:
    """Return a chunk with text."""
    return delta(usage, content=said)


# Each word is a token, so that a count of words is what the server counts.
STREAMS = {
    "a role, then text, and usage at the end": Recorded(
        (
            (10_101, ROLE),
            (31_003, text("one")),
            (47_019, text(" two")),
            (72_501, text(" three")),
            (80_007, finish()),
            (81_013, event([], usage=3)),
            (90_017, DONE),
        ),
        95_023,
    ),
    "reasoning first": Recorded(
        (
            (10_007, ROLE),
            (20_011, delta(reasoning_content="hm")),
            (33_013, delta(reasoning_content=" so")),
            (50_021, text("one")),
            (61_027, text(" two")),
            (62_029, finish() + event([], usage=4, reasoning=2) + DONE),
        ),
        62_029,
    ),
    "reasoning first, in the field of vLLM": Recorded(
        (
            (10_007, ROLE),
            (20_011, delta(reasoning="hm")),
            (33_013, delta(reasoning=" so")),
            (50_021, text("one")),
            (61_027, text(" two")),
            (62_029, finish()),
            (63_031, event([], usage=4, reasoning=2)),
            (64_033, DONE),
        ),
        65_037,
    ),
    "a call of a tool": Recorded(
        (
            (10_007, delta(role="assistant", content=None)),
            (25_013, tool("", name="weather")),
            (37_019, tool('{"city":')),
            (52_021, tool('"Oslo"}')),
            (55_027, tool("")),
            (60_029, finish()),
            (61_033, event([], usage=9) + DONE),
        ),
        61_039,
    ),
    "several tokens in the first chunk": Recorded(
        (
            (10_007, delta(usage=0, role="assistant", content="")),
            (40_009, text("one two three", usage=3)),
            (60_013, text(" four", usage=4)),
            (90_019, text(" five six", usage=6)),
            (91_021, finish(usage=6)),
            (92_027, event([], usage=6) + DONE),
        ),
        92_027,
    ),
    "usage with the last chunk": Recorded(
        (
            (12_007, ROLE + text("one")),
            (30_009, text(" two")),
            (41_011, finish(usage=2) + DONE),
        ),
        41_011,
    ),
    "one token": Recorded(
        (
            (10_007, ROLE),
            (35_011, text("one")),
            (36_013, finish()),
            (37_019, event([], usage=1)),
            (38_021, DONE),
        ),
        39_023,
    ),
    "one chunk of several tokens": Recorded(
        ((30_007, ROLE + text("one two three four")), (44_011, finish(usage=4) + DONE)),
        44_011,
    ),
    "an empty answer": Recorded(
        (
            (10_007, ROLE),
            (26_011, finish()),
            (27_013, event([], usage=0)),
            (28_019, DONE),
        ),
        29_021,
    ),
    "nothing but the end token": Recorded(
        ((10_007, ROLE), (26_011, finish()), (27_013, event([], usage=1) + DONE)),
        27_013,
    ),
    "text after a long pause": Recorded(
        (
            (10_007, ROLE),
            (20_011, text("one")),
            (30_013, text(" two")),
            (2_930_017, text(" three")),
            (2_940_019, text(" four")),
            (2_941_023, finish()),
            (2_942_027, event([], usage=4)),
            (2_943_029, DONE),
        ),
        2_944_031,
    ),
    "tokens without text": Recorded(
        (
            (10_007, ROLE),
            (20_011, delta(content="")),
            (30_013, text("one")),
            (45_017, delta(content="")),
            (57_019, text(" two")),
            (70_021, finish(content="")),
            (71_023, event([], usage=5) + DONE),
        ),
        71_023,
    ),
    "several chunks in one read": Recorded(
        (
            (15_007, ROLE + text("one") + text(" two")),
            (33_011, text(" three") + text(" four") + text(" five")),
            (47_013, text(" six") + finish() + event([], usage=6) + DONE),
        ),
        47_013,
    ),
    "no usage": Recorded(
        (
            (10_007, ROLE),
            (20_011, text("one")),
            (34_013, text(" two")),
            (51_017, text(" three")),
            (52_019, finish()),
            (53_023, DONE),
        ),
        53_023,
    ),
    "no end event": Recorded(
        (
            (10_007, ROLE),
            (20_011, text("one")),
            (34_013, text(" two")),
            (52_019, finish()),
            (55_021, event([], usage=2)),
        ),
        60_023,
    ),
    "text, then a call of a tool": Recorded(
        (
            (10_007, ROLE),
            (20_011, text("one")),
            (34_013, tool("{}", name="weather")),
            (52_019, finish()),
            (55_021, event([], usage=5) + DONE),
        ),
        55_021,
    ),
    "a refusal": Recorded(
        (
            (10_007, ROLE),
            (20_011, delta(refusal="no")),
            (34_013, delta(refusal=" way")),
            (52_019, finish()),
            (55_021, event([], usage=2)),
            (56_023, DONE),
        ),
        56_023,
    ),
}
