"""`torr run`: one level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.experiments.lab import Lab, Outcome, Step
from torr.experiments.level import measure

if TYPE_CHECKING:
    from torr.model.plan import Plan


def run(plan: Plan, lab: Lab) -> Outcome:
    """Measure one level."""
    return Outcome.of([measure(Step(index=0, plan=plan, total=1), lab)], lab.interrupt)
