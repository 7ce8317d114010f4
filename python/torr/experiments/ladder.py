"""`torr ladder`: the same load at increasing numbers of connections, or at increasing rates.

Rounds repeat the whole ladder, not each level, so that drift of the machine affects all levels.
A level that the generator could not hold is marked by its health and the ladder goes on; it ends
early when the first level brings no response at all, when a later one cannot be measured, on an
abort condition, or by Ctrl-C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import OutputError, TorrError
from torr.experiments.auto import Point, point_of
from torr.experiments.context import MeasuredLevel, Outcome, RunContext, Step, is_over
from torr.experiments.level import measure
from torr.experiments.levels import AutoRates, FixedRates
from torr.messages.say import say
from torr.stats.series import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.levels import Levels
    from torr.messages.say import Text
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
    """Measure level after level, round after round.

    A later level that cannot be measured, such as one whose node was lost, ends the ladder; the
    levels before it have their conclusions.
    """
    measured: list[MeasuredLevel] = []
    for step in _steps(plan, ladder_plan, measured):
        if is_over(measured, context.interrupt):
            break
        try:
            measured.append(measure(step, context))
        except OutputError:
            raise
        except TorrError as error:
            if not measured:
                raise
            return Outcome.of(measured, context.interrupt, ended_by=_not_measured(step, error))
    return Outcome.of(measured, context.interrupt)


def _not_measured(step: Step, error: TorrError) -> Text:
    return say(
        "the level at {place}, which could not be measured: {why}",
        place=place_of(step.position, step.noun),
        why=error.message,
    )


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
    # A level that claimed nothing may have been measured twice.
    chosen = sorted({m.level.position for m in measured})
    for round_number in range(2, ladder_plan.rounds + 1):
        for position in chosen:
            yield step_at(position, round_number, len(chosen) * ladder_plan.rounds)


def _points(measured: list[MeasuredLevel], ladder_plan: LadderPlan) -> list[Point]:
    return [point_of(m.level, m.rates, ladder_plan.slos) for m in measured]
