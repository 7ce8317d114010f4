"""Measure the overhead of timing: a clock reading, and a turn of the loop in a batch.

Both are subtracted from every time and reported with the results. The call of the function is not
subtracted, since every caller pays for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from statistics import median

from torr.micro import loops
from torr.micro.tracing import untraced

_CLOCK_READS = 20_000
_BATCH = 1_000
_BATCHES = 200


@dataclass(frozen=True, slots=True)
class Overhead:
    """Nanoseconds: `clock_ns` per clock reading, `turn_ns` per operation of a batch."""

    clock_ns: float
    turn_ns: float

    def per_batch(self, batch: int) -> float:
        """Return the overhead in the time of a batch."""
        return self.clock_ns + (self.turn_ns * batch if batch > 1 else 0.0)


@cache
def timing_overhead() -> Overhead:
    """Measure the overhead in this process, once: medians of many."""
    clock_times: list[int] = []
    batch_times: list[int] = []
    with untraced():
        loops.empty(_CLOCK_READS, clock_times.append)
        loops.empty_batches([_BATCH] * _BATCHES, batch_times.append)
    clock_ns = float(median(clock_times))
    return Overhead(clock_ns, max(0.0, (median(batch_times) - clock_ns) / _BATCH))
