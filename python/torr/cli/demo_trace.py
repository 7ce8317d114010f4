"""The trace of `torr demo llm`: short conversations in the format of Bailian.

All begin with the same text, as with a prompt of the system, and each turn with the turns before
it, so that a prefix cache finds most of a prompt. Nothing is recorded: all numbers are drawn.
"""

from __future__ import annotations

import json
import random
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

CONVERSATIONS, TURNS = 40, 4
SECONDS = 8.0
BLOCK_TOKENS = 16
SHARED_BLOCKS, BLOCKS_OF_TURN = 4, 2
PAUSE_S = 0.5


@contextmanager
def trace_file() -> Iterator[str]:
    """Write the trace into a file, which is deleted at the end; yield its path."""
    with tempfile.TemporaryDirectory(prefix="torr-demo-") as folder:
        path = Path(folder) / "conversations.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows()))
        yield str(path)


def rows() -> list[dict[str, Any]]:
    """Return the rows in the order of their times."""
    draw = random.Random(1)  # noqa: S311 - no secret
    starts = [draw.uniform(0, SECONDS - TURNS * PAUSE_S) for _ in range(CONVERSATIONS)]
    found = [_row(n, turn, starts[n], draw) for n in range(CONVERSATIONS) for turn in range(TURNS)]
    return sorted(found, key=lambda row: (row["timestamp"], row["chat_id"]))


def _row(number: int, turn: int, start: float, draw: random.Random) -> dict[str, Any]:
    """Return a turn of a conversation; the last block of its prompt is not full."""
    chat, own = number * TURNS + turn, (turn + 1) * BLOCKS_OF_TURN
    first = SHARED_BLOCKS + number * TURNS * BLOCKS_OF_TURN
    ids = [*range(SHARED_BLOCKS), *range(first, first + own)]
    return {
        "chat_id": chat,
        "parent_chat_id": chat - 1 if turn else -1,
        "timestamp": round(start + turn * PAUSE_S, 3),
        "input_length": len(ids) * BLOCK_TOKENS - draw.randrange(BLOCK_TOKENS),
        "output_length": draw.randint(8, 24),
        "type": "text",
        "turn": turn + 1,
        "hash_ids": ids,
    }
