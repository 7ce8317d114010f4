"""The order of candidates in each round: Williams squares, drawn from a seed.

Over a whole design each candidate has each position equally often, and follows every other equally
often, so that neither drift within a round nor effects of the previous trial favour a candidate (E.
J. Williams, Experimental designs balanced for the estimation of residual effects of treatments,
1949). A square does it for an even number of candidates, a pair of squares for an odd one; for two
it is AB, BA.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Name = TypeVar("Name")


def order(candidates: Sequence[Name], rounds: int, seed: int) -> list[tuple[Name, ...]]:
    """Return the candidates of each round in order; the same seed gives the same order.

    All rows of a design are used before it is repeated with its rows in another order.
    """
    # Not a secret: a plan that can be repeated.
    random = Random(seed)  # noqa: S311
    names = list(candidates)
    random.shuffle(names)
    design = square(len(names))
    orders: list[tuple[Name, ...]] = []
    while len(orders) < rounds:
        rows = random.sample(design, len(design))
        orders += [tuple(names[index] for index in row) for row in rows]
    return orders[:rounds]


def square(count: int) -> list[tuple[int, ...]]:
    """Return the rows of the design for `count` candidates: twice as many rows if it is odd."""
    zigzag = [n // 2 if n % 2 == 0 else count - 1 - n // 2 for n in range(count)]
    rows = [tuple((n + shift) % count for n in zigzag) for shift in range(count)]
    return rows if count % 2 == 0 or count == 1 else [*rows, *(row[::-1] for row in rows)]
