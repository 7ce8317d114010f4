"""Measure how fast this machine runs Python, with a benchmark kernel that never changes.

Budgets in operations per second depend on the machine. Scaled by its speed, a budget that was set
on one machine means about the same on another; the more similar kernel and operation are, the
better.
"""

from __future__ import annotations

import hashlib
import math
from statistics import median
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING

from torr.micro.tracing import untraced
from torr.results.functions import MachineSpeed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REFERENCE_NS = 3_000_000
"""The time of one turn of the kernel at speed 1.0: a definition, never to be changed."""

_TURNS_PER_SAMPLE = 21
"""Of fewer turns, the 5th and 95th percentile would be the slowest and the fastest turn."""

_INTERVAL_S = 10.0
_OUTLIERS = 0.05
"""The share of turns at either end that is ignored."""


def speed_of(turns: Sequence[float]) -> MachineSpeed:
    """Return the median of the turns' speeds, with their 5th and 95th percentiles."""
    ranked = sorted(turns)
    at = math.ceil(_OUTLIERS * len(ranked))
    return MachineSpeed(median(ranked), ranked[at - 1], ranked[-at])


def _turn() -> float:
    """Return the speed of one turn of the kernel."""
    began = perf_counter_ns()
    _kernel()
    return REFERENCE_NS / (perf_counter_ns() - began)


def _kernel() -> int:
    """Run typical Python code: dictionaries, calls, strings, integers and a hash."""
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


class MachineSamples:
    """All speed samples of this process; the speed may change while tests run."""

    def __init__(
        self, turn: Callable[[], float] = _turn, now: Callable[[], float] = monotonic
    ) -> None:
        self._turn = turn
        self._now = now
        self._turns: list[float] = []
        self._next_s = -math.inf

    def speed(self) -> MachineSpeed:
        """Return the speed of all samples; take one, in about 60 ms, if the last is 10 s old."""
        if self._now() >= self._next_s:
            with untraced():
                self._turn()
                self._turns += [self._turn() for _ in range(_TURNS_PER_SAMPLE)]
            self._next_s = self._now() + _INTERVAL_S
        return speed_of(self._turns)


speed = MachineSamples().speed
