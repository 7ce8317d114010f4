"""The trials of a comparison in order: by cell, candidate and round.

A cell is one setting of the factors; its candidates run back to back in rounds. Whatever concerns
one trial of a round concerns the round: drift hits all of it, and a rule that discards a trial
discards the whole round, whoever failed in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torr.stats.series import ended, failed

if TYPE_CHECKING:
    from typing_extensions import Self

    from torr.model.condition import Condition

Level = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting: the factors as JSON text, so that it can be a key, and the level of load."""

    factors_json: str
    concurrency: int
    rate: float | None = None

    @classmethod
    def of(cls, level: Level) -> Self:
        """The cell that a trial belongs to."""
        factors = json.dumps(level.get("factors") or {}, sort_keys=True)
        return cls(factors, level["concurrency"], level.get("rate"))

    @property
    def factors(self) -> dict[str, Any]:
        """The factors by name."""
        found: dict[str, Any] = json.loads(self.factors_json)
        return found


Rounds = dict[int, dict[str, Level]]
"""The trials of a cell: by round, then by candidate."""


def by_cell(levels: Iterable[Level]) -> dict[Cell, Rounds]:
    """Group trials; a trial that was measured again stands for the one before it.

    Cells and candidates stand in the order in which they first came, rounds ascend.
    """
    cells: dict[Cell, Rounds] = {}
    for level in levels:
        rounds = cells.setdefault(Cell.of(level), {})
        rounds.setdefault(level.get("round", 1), {})[_name(level)] = level
    return {cell: dict(sorted(rounds.items())) for cell, rounds in cells.items()}


def candidates(levels: Iterable[Level]) -> list[str]:
    """Return the names of the candidates, in the order in which they first came."""
    return list(dict.fromkeys(map(_name, levels)))


@dataclass(frozen=True, slots=True)
class Discarded:
    """What a rule took out of one cell: the rounds, and how often whose trial was the reason."""

    rule: str
    rounds: tuple[int, ...]
    because_of: Mapping[str, int]


def discard(rounds: Rounds, rule: Condition) -> tuple[Rounds, Discarded]:
    """Split a cell's rounds into those that stay, and what is said of those that do not.

    A round goes when the condition holds for any trial of it.
    """
    hit = {
        number: [name for name, level in trials.items() if rule.evaluate(level).word == "held"]
        for number, trials in rounds.items()
    }
    gone = tuple(number for number, names in hit.items() if names)
    who = [name for names in hit.values() for name in names]
    counted = {name: who.count(name) for name in dict.fromkeys(who)}
    kept = {number: trials for number, trials in rounds.items() if number not in gone}
    return kept, Discarded(rule.text or str(rule), gone, counted)


def error_rate(levels: Sequence[Level]) -> float | None:
    """Return the failures of some trials as percent of the attempts that ended in them."""
    attempts = sum(map(ended, levels))
    return 100 * sum(map(failed, levels)) / attempts if attempts else None


def _name(level: Level) -> str:
    return level.get("candidate") or ""


def unmeasured(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the last failure of each candidate that has no trial at all in a cell."""
    measured = {_spot(level) for level in result.get("levels") or ()}
    lacking = {_spot(failure): failure for failure in result.get("failures") or ()}
    return [failure for spot, failure in lacking.items() if spot not in measured]


def _spot(entry: Mapping[str, Any]) -> tuple[str, str]:
    return _name(entry), json.dumps(entry.get("factors") or {}, sort_keys=True)
