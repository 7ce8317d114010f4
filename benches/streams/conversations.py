"""A trace in Mooncake's format, made up with a fixed seed: the same file on every machine.

    python benches/streams/conversations.py FILE [--rows 1000] [--rate 5]

Its lengths are those of conversations: log-normal, with a long tail. A row shares its first blocks
with others of its group, as system prompts do. Requests arrive like those of independent users.

The logs of a tool and of its target are joined by the number of generated texts (`joined.py`), so
rows of the same output length are far apart in time.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

SEED = 1
BLOCK_TOKENS = 512
APART_MS = 2_000
"""The least time between two rows of the same output length."""

_GROUPS = 20
_SHARED_BLOCKS = 2
_INPUT = (2_000.0, 0.9, 64, 16_000)
_OUTPUT = (200.0, 0.7, 16, 1_000)
_TRIES = 200


class Row(NamedTuple):
    """A request: when it is due, and its tokens."""

    timestamp: int
    input_length: int
    output_length: int
    hash_ids: list[int]


def conversations(rows: int, rate_per_s: float, seed: int = SEED) -> list[Row]:
    """Return so many rows that arrive at random times."""
    draw = random.Random(seed)  # noqa: S311 - a draw that can be repeated
    gaps = (draw.expovariate(rate_per_s / 1000) for _ in range(rows))
    times = [round(time) for time in accumulate(gaps)]
    outputs = _far_apart(times, draw)
    return [
        Row(time, length, output, _blocks(number, length, draw))
        for number, (time, output) in enumerate(zip(times, outputs, strict=True))
        for length in [_length(draw, *_INPUT)]
    ]


def lengths_in_turn(rows: int, least: int, most: int, seed: int = SEED) -> list[Row]:
    """Return rows of all output lengths from `least` to `most` in turn, without times between."""
    draw = random.Random(seed)  # noqa: S311 - a draw that can be repeated
    lengths: list[int] = []
    while len(lengths) < rows:
        lengths += draw.sample(range(least, most + 1), most + 1 - least)
    return [Row(0, 16, output, [number]) for number, output in enumerate(lengths[:rows])]


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as JSON lines."""
    path.write_text("".join(f"{json.dumps(row._asdict())}\n" for row in rows))


def _length(draw: random.Random, median: float, sigma: float, least: int, most: int) -> int:
    return min(max(round(draw.lognormvariate(math.log(median), sigma)), least), most)


def _far_apart(times: Sequence[int], draw: random.Random) -> Iterator[int]:
    """Yield an output length for each time, none of which another had shortly before."""
    last: dict[int, int] = {}
    for time in times:
        for _ in range(_TRIES):
            length = _length(draw, *_OUTPUT)
            if time - last.get(length, -APART_MS) >= APART_MS:
                break
        else:
            message = f"no output length is free at {time} ms: the rate is too high"
            raise ValueError(message)
        last[length] = time
        yield length


def _blocks(number: int, tokens: int, draw: random.Random) -> list[int]:
    """Return the ids of a row's blocks: whole ones of its group first, then others of its own."""
    group = draw.randrange(_GROUPS)
    shared = range(group * _SHARED_BLOCKS, (group + 1) * _SHARED_BLOCKS)[: tokens // BLOCK_TOKENS]
    first_own = _GROUPS * _SHARED_BLOCKS + number * 100
    own = math.ceil(tokens / BLOCK_TOKENS) - len(shared)
    return [*shared, *range(first_own, first_own + own)]


def main() -> None:
    """Write a trace."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=5.0, help="requests per second")
    options = parser.parse_args()
    write(options.file, conversations(options.rows, options.rate))


if __name__ == "__main__":
    main()
