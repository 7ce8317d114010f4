"""Lengths of outputs that differ: a column of rows for each turn.

Rows that are few are repeated with other lengths: a prompt alone would have one length for ever.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torr.model.rows import Rows
    from torr.options.stream import StreamOptions

OUTPUT_COLUMN = "output_{}"
"""The name of the column of a turn."""
LEAST_ROWS = 1000
"""So many rows have lengths of their own before these begin again."""
MOST_BYTES = 16 << 20
"""Rows are repeated up to this size, since they are in memory several times."""


def with_outputs(rows: Rows, options: StreamOptions, seed: int) -> Rows:
    """Return the rows with a length of the output of each turn, if outputs are to differ."""
    lengths, turns = options.output_tokens, options.turns
    if lengths is None or lengths.constant is not None:
        return rows
    repeated = rows.rows * _times(rows)
    draw = random.Random(f"{seed} output")  # noqa: S311 - no secret
    outputs = [tuple(lengths.draw(draw) for _ in range(turns)) for _ in repeated]
    return replace(
        rows,
        columns=(*rows.columns, *(OUTPUT_COLUMN.format(turn) for turn in range(1, turns + 1))),
        rows=tuple(
            (*row, *map(str, output)) for row, output in zip(repeated, outputs, strict=True)
        ),
        tokens=rows.tokens * _times(rows),
        output_tokens=tuple(output[0] for output in outputs),
        distinct=len(rows.rows),
    )


def _times(rows: Rows) -> int:
    """Return how often the rows are repeated."""
    size = sum(len(cell) for row in rows.rows for cell in row)
    most = max(1, MOST_BYTES // max(1, size))
    return min(most, math.ceil(LEAST_ROWS / len(rows.rows)))
