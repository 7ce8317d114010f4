"""The state of the load generator during a level, for the live page, from the newest interval.

The engine judges a level when it has ended. Until then nothing is called healthy; a full core and
late requests are reported at once.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from torr.messages.say import Text, chain, say
from torr.model.generator_limits import FULL_RATE
from torr.units import show_ms

if TYPE_CHECKING:
    from torr.results.level import Interval, IntervalHealth


def generator_status(piece: Interval) -> tuple[str, Text] | None:
    """Return what the newest interval shows of the generator, and a word: `contended` or `unknown`.

    `contended` where what is measured now may be the generator's; None where an interval says
    nothing.
    """
    health = piece.health
    used = [rate or 0.0 for rate in health.worker_cpu_rate] if health else []
    if not health or not used:
        return None
    waited = [rate or 0.0 for rate in health.run_queue_rate]
    is_full = any(a + b >= FULL_RATE for a, b in zip_longest(used, waited, fillvalue=0.0))
    late = _latest(health)
    is_late = late is not None and late[0] > late[1]
    parts = [say("busiest worker {rate:.0f} % of a core", rate=max(used))]
    if is_full:
        parts.append(say("a worker's core is full: the generator may limit the rates"))
    if late is not None:
        words = dict(zip(("lag", "limit"), map(show_ms, late), strict=True))
        if is_late:
            parts.append(say("late by {lag}, where {limit} are allowed", **words))
        else:
            parts.append(say("lag {lag} of the {limit} allowed", **words))
    text = say("The generator now: {said}; judged when the level ends.", said=chain(" · ", parts))
    return ("contended" if is_full or is_late else "unknown"), text


def _latest(health: IntervalHealth) -> tuple[float, float] | None:
    """Return lag and limit, in milliseconds, of the worker with the largest lag for its limit."""
    pairs = zip(health.scheduling_lag_ms, health.scheduling_lag_limit_ms, strict=False)
    known = [(lag, limit) for lag, limit in pairs if lag is not None and limit]
    return max(known, key=lambda pair: pair[0] / pair[1], default=None)
