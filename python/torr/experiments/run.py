"""`torr run`: one level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.experiments.context import Outcome, RunContext, Step
from torr.experiments.level import measure

if TYPE_CHECKING:
    from torr.model.plan import Plan


def run(plan: Plan, context: RunContext) -> Outcome:
    """Measure one level."""
    return Outcome.of([measure(Step(index=0, plan=plan, total=1), context)], context.interrupt)
