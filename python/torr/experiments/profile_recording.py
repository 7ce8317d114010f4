"""A profile that is taken while a load runs, in a thread of its own, once the warm-up is over."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from torr.errors import TorrError
from torr.messages.message import message
from torr.model.plan import Duration
from torr.profile.observation import Observation, capture_errors, cost_rate, stacks_observation
from torr.results.profile import Profile
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.experiments.interrupt import Interrupt
    from torr.model.plan import Plan
    from torr.profile.profiler import Profiler
    from torr.profile.stacks import Stacks
    from torr.results.level import Level

# What a profile needs to have seen enough, where the load is by number of requests, or is short.
_WINDOW_NS, _LEAST_NS = 10 * SECOND_NS, 2 * SECOND_NS
_LOOK_S = 0.1
ENDED = message("profile.target_ended", "the target ended in mid-profile")
# What a profiler that was stopped gets to clean up behind itself.
_END_S = 0.5
# A profiler may see the end of its target before anybody else does.
_MOMENT_S = 1.0
# Lighter stacks than the heaviest so many are put together.
_MOST_STACKS = 4_000


def plan_for_profile(plan: Plan) -> Plan:
    """Return the same load by time, and long enough for a profiler."""
    window_ns = plan.stop.duration_ns if isinstance(plan.stop, Duration) else _WINDOW_NS
    return replace(plan, stop=Duration(max(_LEAST_NS, window_ns)))


class ProfileRecording:
    """What one profiler comes to beside one load, that of `plan`."""

    def __init__(self, profiler: Profiler, plan: Plan) -> None:
        window_ns = plan.stop.duration_ns if isinstance(plan.stop, Duration) else _WINDOW_NS
        self._profiler = profiler
        self._after_s = plan.warmup_ns / SECOND_NS
        self._concurrency = plan.concurrency
        self._seconds = max(1, window_ns // SECOND_NS)
        self._over = threading.Event()
        self._found: Stacks | TorrError | None = None
        self._is_short = False
        self._is_gone = False

    def beside(self, load: Callable[[], Level], interrupt: Interrupt) -> Level:
        """Take it while a load runs; the level that the load came to.

        Ctrl-C waits for no profiler, and none goes on behind a load that was refused.
        """
        thread = threading.Thread(target=self._take, name="torr-profile", daemon=True)
        thread.start()
        try:
            level = load()
            while thread.is_alive() and not interrupt.requested:
                thread.join(_LOOK_S)
        finally:
            self._over.set()
            self._profiler.stop()
            thread.join(_END_S)
        # Ctrl-C may have reached the target as well.
        self._is_gone = not interrupt.requested and self._has_ended()
        return level

    def profile(self, level: Level, same: Sequence[Level]) -> Profile:
        """Return what came of it; `same` are levels without a profiler."""
        ok_per_s = None if level.cut_short else level.ok_per_s
        found = self._seen()
        # What a target answered that ended is no cost, and nobody looked where there is no profile.
        is_known = found.failure is None and not self._is_gone
        cost = cost_rate(ok_per_s, [each.ok_per_s for each in same]) if is_known else None
        return self._entry(ok_per_s, cost, found)

    def failed(self, error: TorrError) -> Profile:
        """Return the profile where there was no load to look at."""
        return self._entry(None, None, Observation.of_error(error))

    def _entry(self, ok_per_s: float | None, cost: float | None, found: Observation) -> Profile:
        return Profile(
            kind=self._profiler.kind,
            tool=self._profiler.tool,
            concurrency=self._concurrency,
            seconds=self._seconds,
            ok_per_s=ok_per_s,
            cost_rate=cost,
            note=ENDED if self._is_gone else None,
            unit=found.unit,
            folded=found.folded,
            failure=found.failure,
            hint=found.hint,
        )

    def _seen(self) -> Observation:
        if self._found is None:
            return Observation(failure=message("profile.interrupted", "interrupted"))
        if isinstance(self._found, TorrError):
            return Observation.of_error(self._found)
        return stacks_observation(self._found.heaviest(_MOST_STACKS))

    def _has_ended(self) -> bool:
        """Whether the target is gone, or is in a moment: its end is what makes a look short."""
        until = time.monotonic() + (_MOMENT_S if self._is_short else 0)
        while not (is_gone := self._profiler.is_gone()) and time.monotonic() < until:
            time.sleep(_LOOK_S)
        return is_gone

    def _take(self) -> None:
        if self._over.wait(self._after_s):
            return
        begun = time.monotonic()
        found = capture_errors(lambda: self._profiler.take(self._seconds))
        # What a profiler says that was stopped is nothing of the target's.
        if not self._over.is_set():
            self._found = found
            self._is_short = time.monotonic() - begun < self._seconds
