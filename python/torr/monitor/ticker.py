"""A thread of low priority that takes samples once per second, for 1 % of a core at most.

The cost of samples is measured by the thread's CPU clock. Expensive samples (many threads, a large
page) become rarer: the next one waits until the CPU time is 1 % of the time that has passed.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from torr.low_priority import lower_priority

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.monitor.time_axis import TimeAxis

INTERVAL_S = 1.0
MAX_COST = 0.01
_EARLY = 0.11


class Ticker:
    """Takes samples from `start` to `stop`, with `immediately` also at the start.

    `cost_s` is the CPU time of its samples.
    """

    def __init__(
        self, sample: Callable[[], None], axis: TimeAxis, name: str, *, immediately: bool = False
    ) -> None:
        self.cost_s = 0.0
        self._take_sample = sample
        self._axis = axis
        self._immediately = immediately
        self._stopped = threading.Event()
        self._began_s = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=f"torr-{name}", daemon=True)

    def start(self) -> None:
        """Start to take samples."""
        self._began_s = time.monotonic()
        self._thread.start()

    def stop(self, timeout_s: float | None = None) -> None:
        """Stop; wait at most `timeout_s` for a sample in progress."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        lower_priority()
        if self._immediately:
            self._run_once()
        while not self._stopped.wait(self._wait_s(time.monotonic())):
            self._run_once()

    def _run_once(self) -> None:
        self._take_sample()
        self.cost_s = time.thread_time()

    def _wait_s(self, now_s: float) -> float:
        """Return the time to the first tick at which the cost of samples is within its limit."""
        affordable_s = self._began_s + self.cost_s / MAX_COST
        # The axis skips a tick that is less than a tenth of an interval away.
        tick_s = self._axis.next_tick(max(now_s, affordable_s - _EARLY * INTERVAL_S), INTERVAL_S)
        return max(0.0, tick_s - now_s)
