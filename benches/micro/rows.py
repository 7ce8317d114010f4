"""The rows, in the order in which they are measured."""

from __future__ import annotations

from micro import agreement, comparing, emptiness, leaving, starting
from micro.row import Row

ROWS = [
    Row("overhead of an empty operation", emptiness.BAR, emptiness.measure),
    Row("agreement with pytest-benchmark and pyperf", agreement.BAR, agreement.measure),
    Row("a function against itself", comparing.SAME_BAR, comparing.same_twice),
    Row("a function 10 % slower", comparing.SLOWER_BAR, comparing.slower),
    Row("leaks", leaving.BAR, leaving.measure),
    Row("the plugin where it is not used", starting.BAR, starting.measure),
]
