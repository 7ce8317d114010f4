"""A clock that operations advance, so that measured times do not depend on the machine."""

from __future__ import annotations

import random
from threading import Lock

from torr.micro import loops, stressing, worker


class SimulatedClock:
    """A clock in nanoseconds that stands still unless an operation advances it."""

    def __init__(self) -> None:
        self._now_ns = 0
        self._random = random.Random(1)
        self._lock = Lock()

    @classmethod
    def installed(cls) -> SimulatedClock:
        """Make torr measure all operations of this process on a new clock, and return it."""
        clock = cls()
        for module in (loops, stressing, worker):
            module.perf_counter_ns = clock
        return clock

    def __call__(self) -> int:
        """Return the time in nanoseconds."""
        return self._now_ns

    def advance(self, seconds: float) -> None:
        """Advance the clock by a time ±1 % at random; without that, rounds would have no spread."""
        with self._lock:
            self._now_ns += round(seconds * 1e9 * self._random.uniform(0.99, 1.01))
