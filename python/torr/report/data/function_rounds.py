"""The rounds of each measured function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.report.data.function_names import key_of, names
from torr.stats.series import variation
from torr.stats.trials import by_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.level import Level
    from torr.results.result import RunResult


def groups(result: RunResult) -> list[tuple[str, list[Level]]]:
    """Return the rounds of each function under each number of threads, by the name it has here."""
    rounds_of: dict[tuple[str, str, int], list[Level]] = {}
    for cell, rounds in by_cell(result.levels).items():
        for trials in rounds.values():
            for level in trials.values():
                rounds_of.setdefault((*key_of(level), cell.concurrency), []).append(level)
    name_of = names(result)
    return [(name_of(levels[0]), levels) for levels in rounds_of.values()]


def spread(levels: Sequence[Level]) -> float | None:
    """Return the coefficient of variation of the rates of rounds."""
    return variation([level.ok_per_s for level in levels])


def failed(level: Level) -> int:
    """Return how many operations raised an error."""
    return level.counts.attempted - level.counts.ok
