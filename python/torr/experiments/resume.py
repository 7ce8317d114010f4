"""The state of a resumed comparison: finished trials, failures, and interrupted rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.experiments.trial import MOST_FAILURES, ComparisonState, Trial
from torr.messages.message import Message, message
from torr.units import show_setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.matrix import Matrix
    from torr.experiments.trial import CellKey, TrialKey
    from torr.store.rundir import RunDirectory


def restore_state(matrix: Matrix, directory: RunDirectory, state: ComparisonState) -> set[TrialKey]:
    """Return the keys of the finished trials; restore failures and notes of the state.

    A trial that was cut short is repeated.
    """
    measured = {Trial.key_of(level) for level in directory.levels if not level.cut_short}
    failed = {Trial.key_of(x) for x in directory.failures if not x.measured} - measured
    finished = measured | failed
    state.trials_made = len(finished)
    state.failures |= _failures_in_a_row(measured, failed)
    state.notes |= dict.fromkeys(_interrupted_rounds(matrix, finished, state))
    return finished


def _failures_in_a_row(measured: set[TrialKey], failed: set[TrialKey]) -> dict[CellKey, int]:
    """Return how many of the last trials failed in a row, by candidate and cell."""
    counts: dict[CellKey, int] = {}
    for key in sorted(measured | failed, key=lambda key: (key[2], key)):
        counts[key[:2]] = 0 if key in measured else counts.get(key[:2], 0) + 1
    return {key: count for key, count in counts.items() if count}


def _interrupted_rounds(
    matrix: Matrix, finished: set[TrialKey], state: ComparisonState
) -> Iterator[Message]:
    """Yield a note for each round with trials before and after the interruption."""
    for cell, factors in enumerate(matrix.cells):
        trials = list(matrix.trials(cell, range(1, matrix.rounds + 1)))
        remaining = [t for t in trials if state.failures.get(t.cell_key, 0) < MOST_FAILURES]
        begun = {t.round for t in remaining if t.key in finished}
        for number in sorted(begun & {t.round for t in remaining if t.key not in finished}):
            yield _interrupted_round(number, show_setting(factors))


def _interrupted_round(number: int, where: str) -> Message:
    if not where:
        return message(
            "rules.half_round",
            "Round {number} began before the comparison was interrupted, and ended after"
            " it was continued.",
            number=number,
        )
    return message(
        "rules.half_round_in_cell",
        "Round {number} at {where} began before the comparison was interrupted, and"
        " ended after it was continued.",
        number=number,
        where=where,
    )
