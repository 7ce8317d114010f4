"""The trials of a comparison in order: by cell, candidate and round.

A cell is one setting of the factors; its candidates are measured one after another in rounds. Drift
affects all trials of a round, so a rule that discards a trial discards the whole round, whichever
candidate failed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.results.base import factors_key
from torr.results.level import AttemptCounts, Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from typing_extensions import Self

    from torr.results.base import Factors
    from torr.results.result import RunResult, TrialFailure
    from torr.results.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting: the factors as JSON text, so that it can be a key, and the level of load."""

    factors_json: str
    concurrency: int
    rate: float | None = None

    @classmethod
    def of(cls, trial: Level | Verdict) -> Self:
        """Return the cell that a trial or a verdict belongs to."""
        return cls(factors_key(trial.factors), trial.concurrency or 0, trial.rate)

    @property
    def factors(self) -> Factors:
        """The factors by name."""
        factors: Factors = json.loads(self.factors_json)
        return factors


Rounds = dict[int, dict[str, Level]]
"""The trials of a cell: by round, then by candidate."""


def by_cell(levels: Iterable[Level]) -> dict[Cell, Rounds]:
    """Group trials by cell; a trial that was measured again replaces the one before it.

    Cells and candidates are in the order of their first trial, rounds ascend.
    """
    cells: dict[Cell, Rounds] = {}
    for level in levels:
        rounds = cells.setdefault(Cell.of(level), {})
        rounds.setdefault(level.round, {})[level.candidate or ""] = level
    return {cell: dict(sorted(rounds.items())) for cell, rounds in cells.items()}


def candidates(levels: Iterable[Level]) -> list[str]:
    """Return the names of the candidates, in the order of their first trial."""
    return list(dict.fromkeys(level.candidate or "" for level in levels))


def error_rate(counts: Sequence[AttemptCounts]) -> float | None:
    """Return the failures in some trials as percent of the attempts that ended in them."""
    attempts = sum(each.ended for each in counts)
    failures = sum(each.failed for each in counts)
    return 100 * failures / attempts if attempts else None


def unmeasured(result: RunResult) -> list[TrialFailure]:
    """Return the last failure of each candidate that has no trial at all in a cell."""
    measured = {_key(level) for level in result.levels}
    failures = {_key(failure): failure for failure in result.failures}
    return [failure for key, failure in failures.items() if key not in measured]


def _key(trial: Level | TrialFailure) -> tuple[str, str]:
    return trial.candidate or "", factors_key(trial.factors)
