"""`torr compare`: every candidate under every setting, round after round, back to back.

The candidates of a cell take turns in rounds, in an order that a seed draws, after one round that
is not measured; drift of the machine hits all of them alike. A trial that fails is an outcome: it
is kept and named, and the matrix goes on. Nothing is judged here but how many rounds are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.experiments.context import Outcome, RunContext
from torr.experiments.resume import restore_state
from torr.experiments.trial import MOST_FAILURES, ComparisonState, Trial, end_cell, run_trial
from torr.stats.trials import Cell
from torr.stats.williams import order
from torr.verdicts.looks import unsettled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torr.model.plan import Plan
    from torr.sources.matrix_file import Candidate, Factors
    from torr.verdicts.comparison import Procedure


@dataclass(frozen=True, slots=True)
class Matrix:
    """What is compared, under which settings, and how often.

    `stages` are the numbers of rounds after which is looked whether a cell needs more.
    """

    candidates: Sequence[Candidate]
    cells: Sequence[Factors]
    stages: tuple[int, ...]
    plan_of: Callable[[Candidate, Factors, str], Plan]
    baseline: str
    procedure: Procedure
    seed: int = 1

    @property
    def rounds(self) -> int:
        """The most rounds that a cell can have."""
        return self.stages[-1]

    @property
    def count(self) -> int:
        """How many trials there are at most, without those that are not kept."""
        return len(self.candidates) * len(self.cells) * self.rounds

    def order(self, cell: int) -> list[tuple[str, ...]]:
        """The names of the candidates of each round of a cell, the unmeasured one first."""
        names = [candidate.name for candidate in self.candidates]
        return [tuple(names), *order(names, self.rounds, self.seed + cell)]

    def trials(self, cell: int, rounds: range) -> Iterator[Trial]:
        """The trials of some rounds of a cell, in their order."""
        by_name = {candidate.name: candidate for candidate in self.candidates}
        turns = self.order(cell)
        for number in rounds:
            for name in turns[number]:
                yield Trial(by_name[name], self.cells[cell], number)


class MatrixRun:
    """A matrix under way: which trials are made, and who failed how often in a row in a cell."""

    def __init__(self, matrix: Matrix, context: RunContext, state: ComparisonState) -> None:
        self.matrix = matrix
        self.context = context
        self.state = state
        self._done = restore_state(matrix, context.directory, state)

    def run(self) -> Outcome:
        """Make every trial that is not kept yet, until all stages are over or somebody stops it."""
        before, going = 0, list(range(len(self.matrix.cells)))
        for rounds in self.matrix.stages:
            if before:
                going = self._going_on(going, before)
            for cell in going:
                self._make(cell, range(before + 1, rounds + 1))
            before = rounds
        return self._outcome()

    def _make(self, cell: int, rounds: range) -> None:
        """The trials of a cell that are left, behind the round before them, which is not kept."""
        left = [trial for trial in self.matrix.trials(cell, rounds) if self._wants(trial)]
        first = left[0].round if left else 0
        before = [trial.unkept() for trial in self.matrix.trials(cell, range(first - 1, first))]
        try:
            for trial in [*before, *left] if left else ():
                if self.context.interrupt.requested:
                    return
                if trial.round == 0 or self._wants(trial):
                    self._note(
                        trial, run_trial(trial, self.matrix.plan_of, self.context, self.state)
                    )
        finally:
            end_cell(self.context, self.state)

    def _going_on(self, cells: Sequence[int], look: int) -> list[int]:
        """The cells for which more rounds may find a word; all are looked at before any goes on."""
        matrix, levels = self.matrix, self.context.directory.levels
        known = {Cell.of(level) for level in levels}
        gone = {
            (side.candidate, cell)
            for side in self.state.given_up
            for cell in known
            if cell.factors == side.factors
        }
        open_ones = unsettled(levels, matrix.baseline, matrix.procedure, look=look, gone=gone)
        settings = [cell.factors for cell in open_ones]
        return [cell for cell in cells if matrix.cells[cell] in settings]

    def _wants(self, trial: Trial) -> bool:
        is_given_up = self.state.failures.get(trial.place, 0) >= MOST_FAILURES
        return trial.key not in self._done and not is_given_up

    def _note(self, trial: Trial, is_measured: bool) -> None:
        if trial.round == 0 or self.context.interrupt.requested:
            return
        self._done.add(trial.key)
        failures = self.state.failures.get(trial.place, 0)
        self.state.failures[trial.place] = 0 if is_measured else failures + 1

    def _outcome(self) -> Outcome:
        return Outcome(
            levels=tuple(self.context.directory.levels),
            interrupted=self.context.interrupt.requested,
            is_urgent=self.context.interrupt.is_urgent,
        )
