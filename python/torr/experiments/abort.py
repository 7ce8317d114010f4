"""`--abort-on`: when to give up a load before its time.

A condition ends the load when it holds in three measured intervals in a row, or for a whole level:
one bad second is noise, three are a state. An interval that shows nothing about it ends the row.
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
    """Counts, for one level, how long each condition has held."""

    conditions: tuple[Condition, ...]
    fired: str | None = None
    _row: dict[int, int] = field(default_factory=dict)

    def judge_interval(self, piece: Interval) -> bool:
        """Whether the load should end now."""
        if piece.phase == "measure" and self.fired is None:
            for number, condition in enumerate(self.conditions):
                self._count(number, condition, piece)
        return self.fired is not None

    def judge_level(self, level: Level) -> str | None:
        """Why the experiment should end after this level, if it should."""
        if self.fired is None:
            held = (c for c in self.conditions if slo.judge(c, level).word == "held")
            self.fired = next((str(condition) for condition in held), None)
        return self.fired

    def _count(self, number: int, condition: Condition, piece: Interval) -> None:
        holds = slo.judge(condition, piece).word == "held"
        self._row[number] = self._row.get(number, 0) + 1 if holds else 0
        if self._row[number] >= IN_A_ROW:
            self.fired = str(condition)
