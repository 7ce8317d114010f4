"""`--abort-on`: conditions that end a load early.

A condition ends the load when it holds in three consecutive measured intervals, so that one bad
second does not, or when it holds for a whole level. An interval without a value of the condition
resets the count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torr.verdicts import slo

if TYPE_CHECKING:
    from torr.model.condition import Condition
    from torr.results.level import Interval, Level

IN_A_ROW = 3


@dataclass
class AbortCounter:
    """Counts for one level how many intervals in a row each condition has held."""

    conditions: tuple[Condition, ...]
    fired: str | None = None
    _row: dict[int, int] = field(default_factory=dict)

    def judge_interval(self, piece: Interval) -> bool:
        """Count an interval, and return whether the load should end."""
        if piece.phase == "measure" and self.fired is None:
            for number, condition in enumerate(self.conditions):
                self._count(number, condition, piece)
        return self.fired is not None

    def judge_level(self, level: Level) -> str | None:
        """Return the condition that ends the experiment after this level, if any."""
        if self.fired is None:
            held = (c for c in self.conditions if slo.judge(c, level).word == "held")
            self.fired = next((str(condition) for condition in held), None)
        return self.fired

    def _count(self, number: int, condition: Condition, piece: Interval) -> None:
        holds = slo.judge(condition, piece).word == "held"
        self._row[number] = self._row.get(number, 0) + 1 if holds else 0
        if self._row[number] >= IN_A_ROW:
            self.fired = str(condition)
