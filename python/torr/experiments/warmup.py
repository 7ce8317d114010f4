"""Requests before a trial that are in none of its numbers: a server is not measured cold.

A warm-up by time is part of the load itself; one by requests is a load of its own before it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torr import engine
from torr.model.plan import Count

if TYPE_CHECKING:
    from torr.experiments.context import RunContext
    from torr.model.plan import Plan


def warm_up(plan: Plan, requests: int | None, context: RunContext) -> None:
    """Fire so many requests as the plan does, and forget them."""
    if requests is None or context.interrupt.requested:
        return
    load = context.start(replace(plan, stop=Count(requests), warmup_ns=0))
    context.interrupt.attach(load)
    try:
        for _ in engine.intervals(load):
            pass
    except BaseException:
        load.abort()
        raise
    finally:
        context.interrupt.detach()
