"""`torr ladder`: the same load at increasing numbers of connections.

Rounds repeat the whole ladder, not each level, so that drift of the machine affects all levels.
A level that the generator could not hold is marked by its health and the ladder goes on; it ends
early when the first level brings no response at all, on an abort condition, or by Ctrl-C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.experiments.auto import Point, Search, next_concurrency, point_of
from torr.experiments.context import MeasuredLevel, Outcome, RunContext, Step, is_over
from torr.experiments.level import measure
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.condition import Condition
    from torr.model.plan import Plan

DEFAULT_LEVELS = (200, 500, 1000, 3000, 5000, 10000, 15000, 20000, 25000, 50000)


@dataclass(frozen=True, slots=True)
class FixedLevels:
    """Levels chosen by the user, ascending."""

    concurrencies: tuple[int, ...] = DEFAULT_LEVELS

    def __post_init__(self) -> None:
        """Check the list."""
        text = ",".join(map(str, self.concurrencies))
        if not self.concurrencies or self.concurrencies[0] < 1:
            raise UsageError(
                say("levels {text!r}: every level must be at least 1 connection", text=text)
            )
        if list(self.concurrencies) != sorted(set(self.concurrencies)):
            raise UsageError(
                say("levels {text} are not ascending", text=text), say("write 200,500,1000")
            )

    def choose(self, points: list[Point]) -> int | None:
        """Return the next level of the first round."""
        rest = self.concurrencies[len(points) :]
        return rest[0] if rest else None

    @property
    def count(self) -> int | None:
        """The number of levels."""
        return len(self.concurrencies)

    @property
    def requested(self) -> list[int]:
        """The requested levels as result.json has them."""
        return list(self.concurrencies)


@dataclass(frozen=True, slots=True)
class AutoLevels:
    """Levels that are chosen by the measured ones."""

    search: Search

    def at_least(self, least: int) -> AutoLevels:
        """Return the same with a higher start, since each endpoint needs a connection."""
        return AutoLevels(replace(self.search, start=max(least, self.search.start)))

    def choose(self, points: list[Point]) -> int | None:
        """Return the next level of the first round."""
        return next_concurrency(points, self.search)

    @property
    def count(self) -> int | None:
        """None, since the number of levels is unknown."""
        return None

    @property
    def requested(self) -> str:
        """The requested levels as result.json has them."""
        return f"auto:{self.search.start}"


@dataclass(frozen=True, slots=True)
class LadderPlan:
    """The levels, the number of rounds, and the SLOs."""

    levels: FixedLevels | AutoLevels
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
    count = ladder_plan.levels.count
    total = None if count is None else count * ladder_plan.rounds
    while (choice := ladder_plan.levels.choose(_points(measured, ladder_plan))) is not None:
        yield Step(len(measured), plan.with_users(choice), 1, total)
    chosen = sorted(m.level.concurrency for m in measured)
    for round_number in range(2, ladder_plan.rounds + 1):
        for users in chosen:
            total = len(chosen) * ladder_plan.rounds
            yield Step(len(measured), plan.with_users(users), round_number, total)


def _points(measured: list[MeasuredLevel], ladder_plan: LadderPlan) -> list[Point]:
    return [point_of(m.level, m.rates, ladder_plan.slos) for m in measured]
