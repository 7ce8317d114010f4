"""`torr compare`: trials of every candidate under every setting, in interleaved rounds.

The candidates of a cell take turns in rounds, in an order that a seed determines, after one round
that is not measured, so that drift of the machine affects all of them. A failed trial is recorded,
and the others continue. Verdicts are used only to end cells that need no more rounds.
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
    from collections.abc import Iterator, Sequence

    from torr.experiments.trial import PlanOf
    from torr.sources.candidate_entry import Candidate
    from torr.sources.matrix_file import Factors
    from torr.verdicts.comparison import Procedure


@dataclass(frozen=True, slots=True)
class Matrix:
    """Candidates, settings and rounds of a comparison.

    `stages` are the numbers of rounds after which a cell may need no more.
    """

    candidates: Sequence[Candidate]
    cells: Sequence[Factors]
    stages: tuple[int, ...]
    plan_of: PlanOf
    baseline: str
    procedure: Procedure
    seed: int = 1

    @property
    def rounds(self) -> int:
        """The maximum number of rounds of a cell."""
        return self.stages[-1]

    @property
    def count(self) -> int:
        """The maximum number of saved trials."""
        return len(self.candidates) * len(self.cells) * self.rounds

    def order(self, cell: int) -> list[tuple[str, ...]]:
        """Return the candidates of each round of a cell in order; round 0 is not measured."""
        names = [candidate.name for candidate in self.candidates]
        return [tuple(names), *order(names, self.rounds, self.seed + cell)]

    def trials(self, cell: int, rounds: range) -> Iterator[Trial]:
        """Yield the trials of some rounds of a cell in order."""
        by_name = {candidate.name: candidate for candidate in self.candidates}
        order_of_rounds = self.order(cell)
        for number in rounds:
            for name in order_of_rounds[number]:
                yield Trial(by_name[name], self.cells[cell], number)


class MatrixRun:
    """Runs the trials of a matrix that are not finished yet."""

    def __init__(self, matrix: Matrix, context: RunContext, state: ComparisonState) -> None:
        self.matrix = matrix
        self.context = context
        self.state = state
        self._finished = restore_state(matrix, context.directory, state)

    def run(self) -> Outcome:
        """Run the unfinished trials of all stages, or until an interrupt."""
        before, cells = 0, list(range(len(self.matrix.cells)))
        for rounds in self.matrix.stages:
            if before:
                cells = self._unsettled(cells, before)
            for cell in cells:
                self._run_cell(cell, range(before + 1, rounds + 1))
            before = rounds
        return self._outcome()

    def _run_cell(self, cell: int, rounds: range) -> None:
        """Run the unfinished trials of some rounds, after one round that is not saved."""
        unfinished = [
            trial for trial in self.matrix.trials(cell, rounds) if self._is_unfinished(trial)
        ]
        first = unfinished[0].round if unfinished else 0
        before = [trial.unsaved() for trial in self.matrix.trials(cell, range(first - 1, first))]
        try:
            for trial in [*before, *unfinished] if unfinished else ():
                if self.context.interrupt.requested:
                    return
                if trial.round == 0 or self._is_unfinished(trial):
                    self._record(
                        trial, run_trial(trial, self.matrix.plan_of, self.context, self.state)
                    )
        finally:
            end_cell(self.context, self.state)

    def _unsettled(self, cells: Sequence[int], look: int) -> list[int]:
        """Return the cells for which more rounds may find a word."""
        matrix, levels = self.matrix, self.context.directory.levels
        known = {Cell.of(level) for level in levels}
        given_up = {
            (side.candidate, cell)
            for side in self.state.given_up
            for cell in known
            if cell.factors == side.factors
        }
        open_ones = unsettled(levels, matrix.baseline, matrix.procedure, look=look, gone=given_up)
        settings = [cell.factors for cell in open_ones]
        return [cell for cell in cells if matrix.cells[cell] in settings]

    def _is_unfinished(self, trial: Trial) -> bool:
        is_given_up = self.state.failures.get(trial.cell_key, 0) >= MOST_FAILURES
        return trial.key not in self._finished and not is_given_up

    def _record(self, trial: Trial, is_measured: bool) -> None:
        if trial.round == 0 or self.context.interrupt.requested:
            return
        self._finished.add(trial.key)
        failures = self.state.failures.get(trial.cell_key, 0)
        self.state.failures[trial.cell_key] = 0 if is_measured else failures + 1

    def _outcome(self) -> Outcome:
        return Outcome(
            levels=tuple(self.context.directory.levels),
            interrupted=self.context.interrupt.requested,
            is_urgent=self.context.interrupt.is_urgent,
        )
