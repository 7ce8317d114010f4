"""The levels of a ladder: numbers of users or rates, chosen by the user or by the measured ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.experiments.auto import Point, Search, next_position
from torr.messages.say import say
from torr.results.position import Position, position_of
from torr.units import format_rate

if TYPE_CHECKING:
    from torr.model.plan import Plan

DEFAULT_LEVELS = (200, 500, 1000, 3000, 5000, 10000, 15000, 20000, 25000, 50000)


@dataclass(frozen=True, slots=True)
class FixedLevels:
    """Numbers of users chosen by the user, ascending."""

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

    def choose(self, points: list[Point]) -> Position | None:
        """Return the next level of the first round."""
        rest = self.concurrencies[len(points) :]
        return rest[0] if rest else None

    def plan_at(self, plan: Plan, position: Position) -> Plan:
        """Return the plan of a level."""
        return plan.with_users(int(position))

    @property
    def count(self) -> int | None:
        """The number of levels."""
        return len(self.concurrencies)

    @property
    def requested(self) -> list[Position] | str:
        """The requested levels as result.json has them."""
        return list(self.concurrencies)


@dataclass(frozen=True, slots=True)
class AutoLevels:
    """Numbers of users that are chosen by the measured ones."""

    search: Search

    def at_least(self, least: int) -> AutoLevels:
        """Return the same with a higher start, since each endpoint needs a connection."""
        return AutoLevels(replace(self.search, start=max(least, self.search.start)))

    def choose(self, points: list[Point]) -> Position | None:
        """Return the next level of the first round."""
        return next_position(points, self.search)

    def plan_at(self, plan: Plan, position: Position) -> Plan:
        """Return the plan of a level."""
        return plan.with_users(int(position))

    @property
    def count(self) -> int | None:
        """None, since the number of levels is unknown."""
        return None

    @property
    def requested(self) -> list[Position] | str:
        """The requested levels as result.json has them."""
        return _auto(f"{self.search.start}", f"{self.search.most}")


@dataclass(frozen=True, slots=True)
class FixedRates:
    """Rates chosen by the user, ascending."""

    rates: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the list."""
        text = ",".join(map(format_rate, self.rates))
        if list(self.rates) != sorted(set(self.rates)):
            raise UsageError(
                say("rates {text} are not ascending", text=text), say("write 100,200,400")
            )

    @property
    def first(self) -> float:
        """The first rate."""
        return self.rates[0]

    def choose(self, points: list[Point]) -> Position | None:
        """Return the next level of the first round."""
        rest = self.rates[len(points) :]
        return position_of(None, rest[0]) if rest else None

    def plan_at(self, plan: Plan, position: Position) -> Plan:
        """Return the plan of a level."""
        return plan.with_rate(position)

    @property
    def count(self) -> int | None:
        """The number of levels."""
        return len(self.rates)

    @property
    def requested(self) -> list[Position] | str:
        """The requested rates as result.json has them."""
        return [position_of(None, rate) for rate in self.rates]


@dataclass(frozen=True, slots=True)
class AutoRates:
    """Rates that are chosen by the measured ones."""

    search: Search

    @property
    def first(self) -> float:
        """The first rate."""
        return self.search.start

    def choose(self, points: list[Point]) -> Position | None:
        """Return the next level of the first round."""
        return next_position(points, self.search)

    def plan_at(self, plan: Plan, position: Position) -> Plan:
        """Return the plan of a level."""
        return plan.with_rate(position)

    @property
    def count(self) -> int | None:
        """None, since the number of levels is unknown."""
        return None

    @property
    def requested(self) -> list[Position] | str:
        """The requested rates as result.json has them."""
        return _auto(format_rate(self.search.start), format_rate(self.search.most))


def _auto(start: str, end: str) -> str:
    return f"auto:{start}:{end}"


Rates = FixedRates | AutoRates
Levels = FixedLevels | AutoLevels | Rates
