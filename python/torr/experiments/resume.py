"""What a matrix that goes on has of the time before: trials made, failures, rounds made by half."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.experiments.trial import MOST_FAILURES, ComparisonState, Trial
from torr.messages.message import Message, message
from torr.units import show_setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.matrix import Matrix
    from torr.experiments.trial import Key
    from torr.store.rundir import RunDirectory


def restore_state(matrix: Matrix, directory: RunDirectory, state: ComparisonState) -> set[Key]:
    """Return which trials are made; the state gets who failed, and what is to be said of rounds.

    A level that was cut short claims nothing, and is made again.
    """
    measured = {Trial.key_of(level) for level in directory.levels if not level.cut_short}
    failed = {Trial.key_of(each) for each in directory.failures if not each.measured} - measured
    done = measured | {Trial.key_of(each) for each in directory.failures}
    state.made = len(done)
    state.failures |= _in_a_row(measured, failed)
    state.notes |= dict.fromkeys(_halves(matrix, done, state))
    return done


def _in_a_row(measured: set[Key], failed: set[Key]) -> dict[tuple[str, str], int]:
    """How many trials came to nothing last, of each candidate in each cell."""
    found: dict[tuple[str, str], int] = {}
    for key in sorted(measured | failed, key=lambda each: (each[2], each)):
        found[key[:2]] = 0 if key in measured else found.get(key[:2], 0) + 1
    return {place: count for place, count in found.items() if count}


def _halves(matrix: Matrix, done: set[Key], state: ComparisonState) -> Iterator[Message]:
    """Pairs whose halves lie apart: drift between them hits one of them alone."""
    for cell, factors in enumerate(matrix.cells):
        trials = list(matrix.trials(cell, range(1, matrix.rounds + 1)))
        going = [t for t in trials if state.failures.get(t.place, 0) < MOST_FAILURES]
        begun = {t.round for t in going if t.key in done}
        for number in sorted(begun & {t.round for t in going if t.key not in done}):
            yield _half(number, show_setting(factors))


def _half(number: int, where: str) -> Message:
    if not where:
        return message(
            "rules.half_round",
            "Round {number} was begun before the comparison was interrupted, and ended after it"
            " went on.",
            number=number,
        )
    return message(
        "rules.half_round_in_cell",
        "Round {number} at {where} was begun before the comparison was interrupted, and ended after"
        " it went on.",
        number=number,
        where=where,
    )
