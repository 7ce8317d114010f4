"""The time axis of a load: its zero is where the measured window begins, as that of intervals is.

Before an interval has come the zero is a guess: the end of the warm-up. An interval can only come
after its end, so of several the one that came soonest says the most. Intervals of the warm-up count
from where the window was planned; those of the window settle it.
"""

from __future__ import annotations

import math


class Axis:
    """Where the zero of a load is on the monotonic clock, as far as it is known."""

    def __init__(self, zero_s: float) -> None:
        self.zero_s = zero_s
        self._is_settled = False

    def interval_came(self, end_s: float, now_s: float, *, is_measured: bool) -> None:
        """An interval that ends there on the axis has come now."""
        latest = now_s - end_s
        if is_measured and not self._is_settled:
            self._is_settled, self.zero_s = True, latest
        elif is_measured or not self._is_settled:
            self.zero_s = min(self.zero_s, latest)

    def at(self, now_s: float) -> float:
        """A time of the monotonic clock on the axis."""
        return now_s - self.zero_s

    def next_tick(self, now_s: float, every_s: float) -> float:
        """The next whole multiple of a time, on the monotonic clock; never one that is now."""
        # A wait that ends a little early must not ring twice.
        count = math.floor(self.at(now_s) / every_s + 0.1) + 1
        return self.zero_s + count * every_s
