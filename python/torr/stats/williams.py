"""In which order candidates take their turn in each round: Williams squares, from a seed.

Over a whole design each candidate stands equally often at every place, and follows every other
equally often, so that neither drift within a round nor what the last one left behind favours
anybody (E. J. Williams, Experimental designs balanced for the estimation of residual effects of
treatments, 1949). A square does it for an even number of candidates, a pair of squares for an odd
one; for two it is AB, BA.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def order(candidates: Sequence[str], rounds: int, seed: int) -> list[tuple[str, ...]]:
    """Return the candidates of each round in their order; the same seed gives the same.

    A design is used up before it is drawn anew, in another order of its rows.
    """
    # Not a secret: a plan that can be repeated.
    random = Random(seed)  # noqa: S311
    names = list(candidates)
    random.shuffle(names)
    design = square(len(names))
    made: list[tuple[str, ...]] = []
    while len(made) < rounds:
        rows = random.sample(design, len(design))
        made += [tuple(names[at] for at in row) for row in rows]
    return made[:rounds]


def square(count: int) -> list[tuple[int, ...]]:
    """Return the rows of the design for so many: `count` of them, or twice as many if it is odd."""
    zigzag = [at // 2 if at % 2 == 0 else count - 1 - at // 2 for at in range(count)]
    rows = [tuple((at + shift) % count for at in zigzag) for shift in range(count)]
    return rows if count % 2 == 0 or count == 1 else [*rows, *(row[::-1] for row in rows)]
