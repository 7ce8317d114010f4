"""A warm-up by requests before a trial: a load of its own, whose results are discarded.

A warm-up by time is part of the measured load.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torr import engine
from torr.experiments.prompts import for_warm_up
from torr.model.plan import Count

if TYPE_CHECKING:
    from torr.experiments.context import RunContext
    from torr.model.plan import Plan


def warm_up(plan: Plan, requests: int | None, context: RunContext) -> None:
    """Send a number of requests of the plan, and discard the results."""
    if requests is None or context.interrupt.requested:
        return
    load = context.start(replace(for_warm_up(plan), stop=Count(requests), warmup_ns=0))
    with context.interrupt.ending(load):
        for _ in engine.intervals(load):
            pass
