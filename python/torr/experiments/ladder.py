"""`torr ladder`: the same load at one level of connections after another.

Rounds repeat the whole ladder, not each level, so that drift of the machine hits all levels alike.
A level that the generator could not hold is marked by its health and the ladder goes on; it ends
early when the first level brings no answer at all, on an abort condition, or by Ctrl-C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.experiments.auto import Point, Search, next_concurrency, point_of
from torr.experiments.context import MeasuredLevel, Outcome, RunContext, Step, is_over
from torr.experiments.level import measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.condition import Condition
    from torr.model.plan import Plan

DEFAULT_LEVELS = (200, 500, 1000, 3000, 5000, 10000, 15000, 20000, 25000, 50000)


@dataclass(frozen=True, slots=True)
class Fixed:
    """Levels chosen by the user, ascending."""

    concurrencies: tuple[int, ...] = DEFAULT_LEVELS

    def __post_init__(self) -> None:
        """Check the list."""
        text = ",".join(map(str, self.concurrencies))
        if not self.concurrencies or self.concurrencies[0] < 1:
            raise UsageError(f"levels {text!r}: every level must be at least 1 connection")
        if list(self.concurrencies) != sorted(set(self.concurrencies)):
            raise UsageError(f"levels {text} are not ascending", "write 200,500,1000")

    def choose(self, points: list[Point]) -> int | None:
        """The next level of the first round."""
        rest = self.concurrencies[len(points) :]
        return rest[0] if rest else None

    @property
    def count(self) -> int | None:
        """How many levels there are."""
        return len(self.concurrencies)

    @property
    def requested(self) -> list[int]:
        """What the user asked for, as result.json says it."""
        return list(self.concurrencies)


@dataclass(frozen=True, slots=True)
class Auto:
    """Levels chosen by what was measured."""

    search: Search

    def at_least(self, least: int) -> Auto:
        """The same, starting no lower than that: each endpoint needs a connection."""
        return Auto(replace(self.search, start=max(least, self.search.start)))

    def choose(self, points: list[Point]) -> int | None:
        """The next level of the first round."""
        return next_concurrency(points, self.search)

    @property
    def count(self) -> int | None:
        """Nobody knows before."""
        return None

    @property
    def requested(self) -> str:
        """What the user asked for, as result.json says it."""
        return f"auto:{self.search.start}"


@dataclass(frozen=True, slots=True)
class Climb:
    """Which levels, how many times, and what the user wants to hold at them."""

    levels: Fixed | Auto
    rounds: int = 1
    slos: tuple[Condition, ...] = ()


def ladder(plan: Plan, climb: Climb, context: RunContext) -> Outcome:
    """Measure level after level, round after round."""
    measured: list[MeasuredLevel] = []
    for step in _steps(plan, climb, measured):
        if is_over(measured, context.interrupt):
            break
        measured.append(measure(step, context))
    return Outcome.of(measured, context.interrupt)


def _steps(plan: Plan, climb: Climb, measured: list[MeasuredLevel]) -> Iterator[Step]:
    """The first round asks what to do next; the others repeat its levels in ascending order."""
    count = climb.levels.count
    total = None if count is None else count * climb.rounds
    while (choice := climb.levels.choose(_points(measured, climb))) is not None:
        yield Step(len(measured), plan.with_users(choice), 1, total)
    chosen = sorted(m.level.concurrency for m in measured)
    for round_number in range(2, climb.rounds + 1):
        for users in chosen:
            total = len(chosen) * climb.rounds
            yield Step(len(measured), plan.with_users(users), round_number, total)


def _points(measured: list[MeasuredLevel], climb: Climb) -> list[Point]:
    return [point_of(m.level, m.rates, climb.slos) for m in measured]
