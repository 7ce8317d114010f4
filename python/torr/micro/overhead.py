"""What timing itself costs here: a look at the clock, and a turn of the loop in a batch.

Both are taken off every time, and stand beside the results. The call of the operation is not taken
off: whoever calls a function pays for the call.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from statistics import median

from torr.micro import loops
from torr.micro.tracing import untraced

_LOOKS = 20_000
_BATCH = 1_000
_BATCHES = 200


@dataclass(frozen=True, slots=True)
class Overhead:
    """Nanoseconds: `clock_ns` of each timed stretch, `turn_ns` of each operation of a batch."""

    clock_ns: float
    turn_ns: float

    def of(self, batch: int) -> float:
        """Return what a timed stretch of so many operations has too much."""
        return self.clock_ns + (self.turn_ns * batch if batch > 1 else 0.0)


@cache
def measured() -> Overhead:
    """Measure it in this process, once: medians of many."""
    looks: list[int] = []
    turns: list[int] = []
    with untraced():
        loops.empty(_LOOKS, looks.append)
        loops.empty_batches([_BATCH] * _BATCHES, turns.append)
    clock_ns = float(median(looks))
    return Overhead(clock_ns, max(0.0, (median(turns) - clock_ns) / _BATCH))
