"""A thread that looks at something once a second, standing back, for 1 % of a core at most.

What a look costs is told by the thread's own CPU clock. Where looks are dear (many threads, a
large page) they become rare instead of a burden: the next one waits until what was spent is 1 % of
the time that has passed.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from torr.standing_back import stand_back

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.monitor.axis import Axis

EVERY_S = 1.0
MOST_COST = 0.01
_ALMOST = 0.11


class Ticker:
    """Looks from `start` to `stop`, with `at_once` at its start too.

    `cost_s` is the CPU time that its looks have taken.
    """

    def __init__(
        self, look: Callable[[], None], axis: Axis, name: str, *, at_once: bool = False
    ) -> None:
        self.cost_s = 0.0
        self._look = look
        self._axis = axis
        self._at_once = at_once
        self._over = threading.Event()
        self._began_s = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=f"torr-{name}", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._began_s = time.monotonic()
        self._thread.start()

    def stop(self, patience_s: float | None = None) -> None:
        """Look no more; a look that is under way is awaited, so long at most."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(patience_s)

    def _run(self) -> None:
        stand_back()
        if self._at_once:
            self._turn()
        while not self._over.wait(self._rest(time.monotonic())):
            self._turn()

    def _turn(self) -> None:
        self._look()
        self.cost_s = time.thread_time()

    def _rest(self, now_s: float) -> float:
        """How long to wait: to the first tick by which the looks will have cost little enough."""
        afforded_s = self._began_s + self.cost_s / MOST_COST
        # The axis takes a tick that is almost there for one that was.
        tick_s = self._axis.next_tick(max(now_s, afforded_s - _ALMOST * EVERY_S), EVERY_S)
        return max(0.0, tick_s - now_s)
