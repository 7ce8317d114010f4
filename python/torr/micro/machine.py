"""How fast this machine runs Python, by a kernel that never changes.

Budgets in operations a second say as much about the machine as about the code. Scaled by this
speed, a budget that was set on one machine means about the same on another; how much of the
difference that takes away depends on how alike kernel and operation are.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from statistics import median
from time import perf_counter_ns

REFERENCE_NS = 3_000_000
"""One turn of the kernel on the machine that is 1.0: by definition, never to be changed."""

_TURNS = 15


@dataclass(frozen=True, slots=True)
class Speed:
    """The median speed, as a multiple of the reference, and the least and the most seen."""

    median: float
    least: float
    most: float

    def as_json(self) -> dict[str, float]:
        """Return it as result.json has it."""
        return {"median": self.median, "least": self.least, "most": self.most}


@cache
def speed() -> Speed:
    """Measure it in this process, once; takes about 50 ms."""
    _kernel()
    turns = []
    for _ in range(_TURNS):
        began = perf_counter_ns()
        _kernel()
        turns.append(REFERENCE_NS / (perf_counter_ns() - began))
    return Speed(median(turns), min(turns), max(turns))


def _kernel() -> int:
    """Attribute access, dictionaries, calls, strings, integers and a hash: what programs are of."""
    known: dict[str, int] = {}
    total = 0
    for number in range(6_000):
        key = f"k{number % 512}"
        known[key] = known.get(key, 0) + number
        total += _step(number, total)
    digest = hashlib.sha256(repr(sorted(known.items())).encode()).digest()
    return total + digest[0]


def _step(number: int, total: int) -> int:
    return (number * 31 + total) & 0xFFFF
