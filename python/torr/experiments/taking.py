"""A profile that is taken while a load runs, in a thread of its own, once the warm-up is over."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from torr.errors import TorrError
from torr.model.plan import Duration
from torr.stats.series import is_cut
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.engine import Level
    from torr.experiments.interrupt import Interrupt
    from torr.model.plan import Plan
    from torr.profile.profiler import Profiler
    from torr.profile.stacks import Stacks

# What a profile needs to have seen enough, where the load is by number of requests, or is short.
_WINDOW_NS, _LEAST_NS = 10 * SECOND_NS, 2 * SECOND_NS
_LOOK_S = 0.1
# Lighter stacks than the heaviest so many are put together.
_MOST_STACKS = 4_000


def for_a_while(plan: Plan) -> Plan:
    """Return the same load by time, and long enough for a profiler."""
    window_ns = plan.stop.duration_ns if isinstance(plan.stop, Duration) else _WINDOW_NS
    return replace(plan, stop=Duration(max(_LEAST_NS, window_ns)))


class Taking:
    """What one profiler comes to beside one load, that of `plan`."""

    def __init__(self, profiler: Profiler, plan: Plan) -> None:
        window_ns = plan.stop.duration_ns if isinstance(plan.stop, Duration) else _WINDOW_NS
        self._profiler = profiler
        self._after_s = plan.warmup_ns / SECOND_NS
        self._concurrency = plan.concurrency
        self._seconds = max(1, window_ns // SECOND_NS)
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

    def as_json(self, level: Level, same: Sequence[Level]) -> dict[str, Any]:
        """Return what came of it, as result.json has it; `same` are levels without a profiler."""
        ok_per_s = None if is_cut(level) else level["ok_per_s"]
        return {
            "kind": self._profiler.kind,
            "tool": self._profiler.tool,
            "concurrency": self._concurrency,
            "seconds": self._seconds,
            "ok_per_s": ok_per_s,
            "cost_rate": cost_rate(ok_per_s, [each["ok_per_s"] for each in same]),
            **self._seen(),
        }

    def _seen(self) -> dict[str, Any]:
        if self._stacks is None:
            error = self._error
            return failed(error.message, error.hint) if error else failed("interrupted")
        folded = self._stacks.heaviest(_MOST_STACKS).fold()
        return {"unit": self._stacks.unit, "folded": folded, "failure": None, "hint": None}

    def _take(self) -> None:
        time.sleep(self._after_s)
        try:
            self._stacks = self._profiler.take(self._seconds)
        except TorrError as error:
            self._error = error


def failed(why: str, hint: str | None = None) -> dict[str, Any]:
    """Return what result.json says where there is no profile."""
    return {"unit": None, "folded": None, "failure": why, "hint": hint}


def cost_rate(now: float | None, before: Sequence[float]) -> float | None:
    """Return the percent of the rate that the profiler took; None where either is not known."""
    usual = median(before) if before else 0.0
    return 100 * (1 - now / usual) if usual and now is not None else None
