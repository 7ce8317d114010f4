"""Record a profile in a thread while a load runs, after its warm-up."""

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

# The window of a profile for a load with a number of requests, and the shortest window.
_WINDOW_NS, _LEAST_NS = 10 * SECOND_NS, 2 * SECOND_NS
_POLL_S = 0.1
ENDED = message("profile.target_ended", "the target ended during the profile")
# Time for a stopped profiler to clean up.
_END_S = 0.5
# A profiler may notice the end of its target before the operating system reports it.
_GONE_WITHIN_S = 1.0
# The heaviest stacks are stored; all others are combined.
_MOST_STACKS = 4_000


def plan_for_profile(plan: Plan) -> Plan:
    """Return the load with a duration that is long enough for a profiler."""
    window_ns = plan.stop.duration_ns if isinstance(plan.stop, Duration) else _WINDOW_NS
    return replace(plan, stop=Duration(max(_LEAST_NS, window_ns)))


class ProfileRecording:
    """Records the profile of one load, that of `plan`."""

    def __init__(self, profiler: Profiler, plan: Plan) -> None:
        window_ns = plan.stop.duration_ns if isinstance(plan.stop, Duration) else _WINDOW_NS
        self._profiler = profiler
        self._after_s = plan.warmup_ns / SECOND_NS
        self._concurrency = plan.concurrency
        self._seconds = max(1, window_ns // SECOND_NS)
        self._ended = threading.Event()
        self._recorded: Stacks | TorrError | None = None
        self._is_short = False
        self._is_gone = False

    def run_with(self, load: Callable[[], Level], interrupt: Interrupt) -> Level:
        """Take it while a load runs; the level that the load came to.

        An interrupt ends the profiler, too, and so does a load that cannot start.
        """
        thread = threading.Thread(target=self._record, name="torr-profile", daemon=True)
        thread.start()
        try:
            level = load()
            while thread.is_alive() and not interrupt.requested:
                thread.join(_POLL_S)
        finally:
            self._ended.set()
            self._profiler.stop()
            thread.join(_END_S)
        # Ctrl-C may have reached the target as well.
        self._is_gone = not interrupt.requested and self._has_ended()
        return level

    def profile(self, level: Level, same: Sequence[Level]) -> Profile:
        """Return the profile; `same` are levels without a profiler."""
        ok_per_s = None if level.cut_short else level.ok_per_s
        observation = self._observation()
        # The cost is unknown without a profile, and if the target ended.
        is_known = observation.failure is None and not self._is_gone
        cost = cost_rate(ok_per_s, [x.ok_per_s for x in same]) if is_known else None
        return self._entry(ok_per_s, cost, observation)

    def failed(self, error: TorrError) -> Profile:
        """Return the profile of a load that failed."""
        return self._entry(None, None, Observation.of_error(error))

    def _entry(
        self, ok_per_s: float | None, cost: float | None, observation: Observation
    ) -> Profile:
        return Profile(
            kind=self._profiler.kind,
            tool=self._profiler.tool,
            concurrency=self._concurrency,
            seconds=self._seconds,
            ok_per_s=ok_per_s,
            cost_rate=cost,
            note=ENDED if self._is_gone else None,
            unit=observation.unit,
            folded=observation.folded,
            failure=observation.failure,
            hint=observation.hint,
        )

    def _observation(self) -> Observation:
        if self._recorded is None:
            return Observation(failure=message("profile.interrupted", "interrupted"))
        if isinstance(self._recorded, TorrError):
            return Observation.of_error(self._recorded)
        return stacks_observation(self._recorded.heaviest(_MOST_STACKS))

    def _has_ended(self) -> bool:
        """Return whether the target has ended, waiting for that if the profile is short."""
        until = time.monotonic() + (_GONE_WITHIN_S if self._is_short else 0)
        while not (is_gone := self._profiler.is_gone()) and time.monotonic() < until:
            time.sleep(_POLL_S)
        return is_gone

    def _record(self) -> None:
        if self._ended.wait(self._after_s):
            return
        begun = time.monotonic()
        recorded = capture_errors(lambda: self._profiler.take(self._seconds))
        # Errors of a profiler that was stopped are not the target's.
        if not self._ended.is_set():
            self._recorded = recorded
            self._is_short = time.monotonic() - begun < self._seconds
