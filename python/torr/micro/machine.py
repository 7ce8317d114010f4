"""How fast this machine runs Python, by a kernel that never changes.

Budgets in operations a second say as much about the machine as about the code. Scaled by this
speed, a budget that was set on one machine means about the same on another; how much of the
difference that takes away depends on how alike kernel and operation are.
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
"""One turn of the kernel on the machine that is 1.0: by definition, never to be changed."""

_TURNS = 21
"""In a look: of fewer the 5th and the 95th percentile are the slowest and the fastest turn."""

_AGAIN_S = 10.0
_RARELY = 0.05
"""The share of turns at each end that were too slow or too fast to say what the machine is."""


def speed_of(turns: Sequence[float]) -> MachineSpeed:
    """Return the speed by some turns: the ends are their 5th and 95th percentiles."""
    ranked = sorted(turns)
    at = math.ceil(_RARELY * len(ranked))
    return MachineSpeed(median(ranked), ranked[at - 1], ranked[-at])


def _turn() -> float:
    """How fast one turn of the kernel is."""
    began = perf_counter_ns()
    _kernel()
    return REFERENCE_NS / (perf_counter_ns() - began)


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


class MachineSamples:
    """Every look at the machine that this process has had: its speed may change while tests run."""

    def __init__(
        self, turn: Callable[[], float] = _turn, now: Callable[[], float] = monotonic
    ) -> None:
        self._turn = turn
        self._now = now
        self._turns: list[float] = []
        self._again_s = -math.inf

    def speed(self) -> MachineSpeed:
        """Return the speed by all looks; one more comes first where the last was ten seconds ago.

        A look takes about 60 ms.
        """
        if self._now() >= self._again_s:
            with untraced():
                self._turn()
                self._turns += [self._turn() for _ in range(_TURNS)]
            self._again_s = self._now() + _AGAIN_S
        return speed_of(self._turns)


speed = MachineSamples().speed
