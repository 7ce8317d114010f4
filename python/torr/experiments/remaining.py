"""The remaining time of an experiment.

The time of a load with a duration is known before it starts. That of a load with a number of
requests is estimated by its rate, from its first measured interval on. The time between levels,
such as that for starting servers, is not estimated.
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
    """Estimates the time from steps and intervals, in seconds."""

    clock: Callable[[], float] = time.monotonic
    phase: str = "warmup"
    _began_s: float | None = None
    _first: int = 0
    _level_began_s: float = 0.0
    _step: Step | None = None
    _measured_s: float = 0.0
    _attempted: int = 0

    def level_started(self, step: Step) -> None:
        """Start the clock of a level."""
        self._step = step
        self._level_began_s = self.clock()
        if self._began_s is None:
            self._began_s, self._first = self._level_began_s, step.index
        self.phase = "warmup" if step.plan.warmup_ns else "measure"
        self._measured_s, self._attempted = 0.0, 0

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Count the attempts, and take the phase of the load."""
        self._step = step
        self.phase = piece.phase
        if self.phase == "measure":
            self._measured_s += piece.seconds
            self._attempted += piece.counts.attempted

    @property
    def elapsed_s(self) -> float:
        """Time since the first level began."""
        return 0.0 if self._began_s is None else self.clock() - self._began_s

    @property
    def level_elapsed_s(self) -> float:
        """Time since this level began."""
        return self.clock() - self._level_began_s

    @property
    def remaining_s(self) -> float | None:
        """Time to the end of the last level, of this level if the number of levels is unknown.

        None if that is unknown, too.
        """
        elapsed_s = self.level_elapsed_s
        seconds = self._level_s(elapsed_s)
        if seconds is None or self._step is None:
            return None
        total = self._step.total
        others = 0 if total is None else max(0, total - self._step.index - 1)
        return max(0.0, seconds - elapsed_s) + others * max(seconds, self._mean_s)

    @property
    def _mean_s(self) -> float:
        """Mean time from the start of a level to that of the next one; 0 before it is known."""
        ended = 0 if self._step is None else self._step.index - self._first
        if self._began_s is None or ended <= 0:
            return 0.0
        return (self._level_began_s - self._began_s) / ended

    @property
    def share(self) -> float | None:
        """The elapsed share, from 0 to 1; None if it is unknown."""
        remaining_s = self.remaining_s
        if remaining_s is None or self._step is None:
            return None
        elapsed_s = self.level_elapsed_s if self._step.total is None else self.elapsed_s
        return elapsed_s / (elapsed_s + remaining_s) if elapsed_s > 0 else 0.0

    def _level_s(self, elapsed_s: float) -> float | None:
        """Return the time of this level from its start to its end."""
        if self._step is None:
            return None
        plan = self._step.plan
        if not isinstance(plan.stop, Count) or not self._attempted:
            return plan.seconds
        rate = self._attempted / self._measured_s
        return elapsed_s + max(0, plan.stop.requests - self._attempted) / rate
