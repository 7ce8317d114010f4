"""Whether a target keeps up with the rate of a level, by its open requests.

A target that keeps up has as many open requests at the end of the window as at its middle, apart
from chance. One that does not answers later and later: its open requests grow by what arrives and
is not answered. A rate of responses below the rate of arrivals does not show this: responses of a
short window lag behind by their response time, and failures are responses too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torr.model.pace import Open, has_stages

if TYPE_CHECKING:
    from torr.model.plan import Plan
    from torr.results.level import Interval, Level

GROWTH = 0.02
"""The part of the arrivals by which open requests may grow, and which may be dropped."""
NOISE = 2.0
"""How many standard deviations a growth by chance may have."""
LEAST_INTERVALS = 2


@dataclass(slots=True)
class Backlog:
    """The open requests at the end of each interval of a window, and the interval's seconds."""

    intervals: list[tuple[float, int]] = field(default_factory=list)

    def interval_came(self, piece: Interval) -> None:
        """Add an interval, if it is of the window and its open requests are known."""
        if piece.phase == "measure" and isinstance(piece.requests_open, int):
            self.intervals.append((piece.seconds, piece.requests_open))

    def grows(self, rate_per_s: float, *, is_even: bool = False) -> bool:
        """Return whether open requests grow in the second half of the window.

        Even arrivals have constant gaps, so that responses alone vary by chance.
        """
        if len(self.intervals) < LEAST_INTERVALS:
            return False
        middle = len(self.intervals) // 2
        before, after = self.intervals[middle - 1][1], self.intervals[-1][1]
        arrivals = rate_per_s * sum(seconds for seconds, _ in self.intervals[middle:])
        # Arrivals and responses vary by chance like Poisson's, but not more than all open requests.
        varying = 1 if is_even else 2
        chance = NOISE * math.sqrt(varying * min(arrivals, after))
        return after - before > max(GROWTH * arrivals, chance)


def falls_behind(level: Level, plan: Plan, backlog: Backlog) -> bool:
    """Return whether open requests grow at a steady rate, or too many due ones were dropped.

    Where the rate changes, open requests change with it.
    """
    counts = level.counts
    if counts.dropped > GROWTH * counts.planned:
        return True
    paces = [group.pace for group in plan.groups if isinstance(group.pace, Open)]
    if len(paces) < len(plan.groups) or any(map(has_stages, paces)):
        return False
    is_even = all(pace.arrivals == "constant" for pace in paces)
    return backlog.grows(level.offered_rate or 0, is_even=is_even)
