"""`torr ladder`: the same load at increasing numbers of connections, or at increasing rates.

Rounds repeat the whole ladder, not each level, so that drift of the machine affects all levels.
A level that the generator could not hold is marked by its health and the ladder goes on; it ends
early when the first level brings no response at all, on an abort condition, or by Ctrl-C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.experiments.auto import Point, point_of
from torr.experiments.context import MeasuredLevel, Outcome, RunContext, Step, is_over
from torr.experiments.level import measure
from torr.experiments.levels import AutoRates, FixedRates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.levels import Levels
    from torr.model.condition import Condition
    from torr.model.plan import Plan
    from torr.results.position import Position


@dataclass(frozen=True, slots=True)
class LadderPlan:
    """The levels, the number of rounds, and the SLOs."""

    levels: Levels
    rounds: int = 1
    slos: tuple[Condition, ...] = ()


def ladder(plan: Plan, ladder_plan: LadderPlan, context: RunContext) -> Outcome:
    """Measure level after level, round after round."""
    measured: list[MeasuredLevel] = []
    for step in _steps(plan, ladder_plan, measured):
        if is_over(measured, context.interrupt):
            break
        measured.append(measure(step, context))
    return Outcome.of(measured, context.interrupt)


def _steps(plan: Plan, ladder_plan: LadderPlan, measured: list[MeasuredLevel]) -> Iterator[Step]:
    """Yield the chosen levels of the first round, then its levels in ascending order."""
    levels = ladder_plan.levels
    total = None if levels.count is None else levels.count * ladder_plan.rounds
    is_of_rates = isinstance(levels, FixedRates | AutoRates)

    def step_at(position: Position, round_number: int, total: int | None) -> Step:
        level_plan = levels.plan_at(plan, position)
        return Step(len(measured), level_plan, round_number, total, is_of_rates=is_of_rates)

    while (choice := levels.choose(_points(measured, ladder_plan))) is not None:
        yield step_at(choice, 1, total)
    chosen = sorted(m.level.position for m in measured)
    for round_number in range(2, ladder_plan.rounds + 1):
        for position in chosen:
            yield step_at(position, round_number, len(chosen) * ladder_plan.rounds)


def _points(measured: list[MeasuredLevel], ladder_plan: LadderPlan) -> list[Point]:
    return [point_of(m.level, m.rates, ladder_plan.slos) for m in measured]
