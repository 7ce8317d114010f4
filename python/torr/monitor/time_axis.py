"""The time axis of a load: its zero is the start of the measured window, as for intervals.

Before the first interval, the zero is an estimate: the planned end of the warm-up. An interval
arrives after its end, so the one with the shortest delay gives the best estimate. Intervals of the
warm-up refer to the planned start of the window, those of the window to the actual one.
"""

from __future__ import annotations

import math


class TimeAxis:
    """The best estimate of the zero of a load, on the monotonic clock."""

    def __init__(self, zero_s: float) -> None:
        self.zero_s = zero_s
        self._is_settled = False

    def interval_came(self, end_s: float, now_s: float, *, is_measured: bool) -> None:
        """Improve the estimate by an interval that ended at `end_s` and arrived at `now_s`."""
        latest = now_s - end_s
        if is_measured and not self._is_settled:
            self._is_settled, self.zero_s = True, latest
        elif is_measured or not self._is_settled:
            self.zero_s = min(self.zero_s, latest)

    def at(self, now_s: float) -> float:
        """Return the time on the axis of a time of the monotonic clock."""
        return now_s - self.zero_s

    def next_tick(self, now_s: float, every_s: float) -> float:
        """Return the next whole multiple of `every_s` on the axis, as a time of the clock."""
        # A wait that ends a little early must not cause two ticks.
        count = math.floor(self.at(now_s) / every_s + 0.1) + 1
        return self.zero_s + count * every_s
