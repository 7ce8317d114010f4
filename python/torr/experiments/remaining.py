"""How far an experiment is, and how long it still takes: for whoever shows it while it goes on.

A load that ends by the clock is known before it starts. One that ends with a number of requests is
estimated by its own rate, from its first measured interval on. Starts of servers, and what is done
between levels, are in nobody's estimate.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.model.plan import Count

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.experiments.context import Step
    from torr.results.level import Interval


@dataclass
class Remaining:
    """Hears steps and intervals as a listener does, and tells the time; times are seconds."""

    clock: Callable[[], float] = time.monotonic
    phase: str = "warmup"
    _began_s: float | None = None
    _level_began_s: float = 0.0
    _step: Step | None = None
    _measured_s: float = 0.0
    _attempted: int = 0

    def level_started(self, step: Step) -> None:
        """Start the clock of a level."""
        self._step = step
        self._level_began_s = self.clock()
        if self._began_s is None:
            self._began_s = self._level_began_s
        self.phase = "warmup" if step.plan.warmup_ns else "measure"
        self._measured_s, self._attempted = 0.0, 0

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Hear what was attempted, and in which phase the load is."""
        self._step = step
        self.phase = piece.phase
        if self.phase == "measure":
            self._measured_s += piece.seconds
            self._attempted += piece.counts.attempted

    @property
    def done_s(self) -> float:
        """Since the first level began."""
        return 0.0 if self._began_s is None else self.clock() - self._began_s

    @property
    def level_done_s(self) -> float:
        """Since this level began."""
        return self.clock() - self._level_began_s

    @property
    def left_s(self) -> float | None:
        """Until the end of the last level; of this one where nobody knows how many come.

        None where that is not known either.
        """
        done_s = self.level_done_s
        seconds = self._level_s(done_s)
        if seconds is None or self._step is None:
            return None
        total = self._step.total
        others = 0 if total is None else max(0, total - self._step.index - 1)
        return max(0.0, seconds - done_s) + others * seconds

    @property
    def share(self) -> float | None:
        """The part of it that is over, from 0 to 1; None where nobody knows."""
        left_s = self.left_s
        if left_s is None or self._step is None:
            return None
        done_s = self.level_done_s if self._step.total is None else self.done_s
        return done_s / (done_s + left_s) if done_s > 0 else 0.0

    def _level_s(self, done_s: float) -> float | None:
        """How long this level takes from its start to its end."""
        if self._step is None:
            return None
        plan = self._step.plan
        if not isinstance(plan.stop, Count) or not self._attempted:
            return plan.seconds
        rate = self._attempted / self._measured_s
        return done_s + max(0, plan.stop.requests - self._attempted) / rate
