"""A profile under load: one more trial, behind all that is measured, so that it taints nothing.

What the profiler costs is seen in that trial's ok/s beside those that were measured, and is said.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from torr.errors import TorrError
from torr.experiments.lab import Lab, Outcome, Step
from torr.experiments.level import measure
from torr.model.plan import Duration
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.engine import Level
    from torr.experiments.interrupt import Interrupt
    from torr.model.plan import Plan
    from torr.profile.profiler import Profiler
    from torr.profile.stacks import Stacks

    Experiment = Callable[[Lab], Outcome]

# What a profile needs to have seen enough, where the load is by number of requests.
_WINDOW_NS = 10 * SECOND_NS
_LOOK_S = 0.1
# Lighter stacks than the heaviest so many are put together.
_MOST_STACKS = 4_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to profile with, and at how many users; None: those of the level with the most ok/s."""

    profiler: Profiler
    concurrency: int | None = None


def profiled(experiment: Experiment, plan: Plan, wanted: Wanted) -> Experiment:
    """Return the experiment with a trial more for the profile, unless it came to nothing."""

    def whole(lab: Lab) -> Outcome:
        outcome = experiment(lab)
        if outcome.levels and outcome.status == "complete" and outcome.aborted is None:
            lab.directory.profiles.append(_profile(plan, wanted, lab, outcome.levels))
        return outcome

    return whole


def _profile(plan: Plan, wanted: Wanted, lab: Lab, levels: Sequence[Level]) -> dict[str, Any]:
    at = _concurrency(wanted, levels)
    if at != plan.concurrency:
        plan = plan.with_users(at)
    window_ns = plan.stop.duration_ns if isinstance(plan.stop, Duration) else _WINDOW_NS
    plan = replace(plan, stop=Duration(window_ns))
    taking = _Taking(wanted.profiler, plan.warmup_ns / SECOND_NS, max(1, window_ns // SECOND_NS))
    # Round 0: it is measured and not kept, as what only makes the next one alike.
    step = Step(len(levels), plan, 0, len(levels) + 1)
    level = taking.beside(lambda: measure(step, lab).level, lab.interrupt)
    same = [each["ok_per_s"] for each in levels if each["concurrency"] == at]
    return {
        "tool": wanted.profiler.tool,
        "concurrency": at,
        "seconds": taking.seconds,
        "ok_per_s": level["ok_per_s"],
        "cost_rate": _cost_rate(level["ok_per_s"], same),
        **taking.as_json(),
    }


class _Taking:
    """A profile that is taken in a thread of its own, once the warm-up is over."""

    def __init__(self, profiler: Profiler, after_s: float, seconds: int) -> None:
        self._profiler = profiler
        self._after_s = after_s
        self.seconds = seconds
        self._stacks: Stacks | None = None
        self._error: TorrError | None = None

    def beside(self, load: Callable[[], Level], interrupt: Interrupt) -> Level:
        """Take it while a load runs; the level that the load came to. Ctrl-C waits for nobody."""
        thread = threading.Thread(target=self._take, name="torr-profile", daemon=True)
        thread.start()
        level = load()
        while thread.is_alive() and not interrupt.requested:
            thread.join(_LOOK_S)
        return level

    def as_json(self) -> dict[str, Any]:
        """Return what came of it, as result.json has it."""
        if self._stacks is None:
            error = self._error
            return {
                "unit": None,
                "folded": None,
                "failure": error.message if error else "interrupted",
                "hint": error.hint if error else None,
            }
        return {
            "unit": self._stacks.unit,
            "folded": self._stacks.heaviest(_MOST_STACKS).fold(),
            "failure": None,
            "hint": None,
        }

    def _take(self) -> None:
        time.sleep(self._after_s)
        try:
            self._stacks = self._profiler.take(self.seconds)
        except TorrError as error:
            self._error = error


def _concurrency(wanted: Wanted, levels: Sequence[Level]) -> int:
    if wanted.concurrency is not None:
        return wanted.concurrency
    found: int = max(levels, key=lambda level: level["ok_per_s"])["concurrency"]
    return found


def _cost_rate(now: float, before: Sequence[float]) -> float | None:
    """Percent of the ok/s that the profiler took; None where nothing was measured there."""
    usual = median(before) if before else 0.0
    return 100 * (1 - now / usual) if usual else None
