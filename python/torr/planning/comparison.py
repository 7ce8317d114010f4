"""A comparison from a matrix file and options: its trials, its secrets, the head of its result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from torr.errors import UsageError
from torr.experiments.comparison_record import record_of
from torr.experiments.matrix import Matrix, MatrixRun
from torr.experiments.pinning import pinned
from torr.experiments.server_lifetime import ServerPerCell, ServerPerTrial
from torr.experiments.trial import ComparisonState
from torr.messages.say import say
from torr.model.secrets import LEAST_SECRET, known_secrets
from torr.planning.cluster import pin_for, start_of
from torr.planning.matrix import Plans
from torr.planning.monitoring import sources_of
from torr.planning.prepared import PreparedRun
from torr.planning.profile import profiles_of
from torr.planning.resumed import check_resumed
from torr.planning.secrets import secrets_of_plan
from torr.planning.stored_candidate import stored_candidate
from torr.results.experiment import Experiment
from torr.stats.estimate import ALPHA
from torr.store.run_head import run_head
from torr.verdicts.comparison import Procedure
from torr.verdicts.conclusions import of_trials
from torr.verdicts.looks import ALPHA_OF_A_LOOK, LOOKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.context import Outcome, RunContext
    from torr.experiments.server_profiles import ServerProfiles
    from torr.model.condition import Condition
    from torr.model.json import JsonObject
    from torr.model.pin import Pin
    from torr.model.plan import Plan
    from torr.options.compare import CompareOptions
    from torr.results.level import Level
    from torr.results.result import Conclusions, RunHead
    from torr.sources.candidate_entry import Candidate
    from torr.sources.matrix_file import MatrixFile
    from torr.store.rundir import RunDirectory


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """Servers to compare: the matrix of their trials, their SLOs, cores and profiles."""

    file: MatrixFile
    options: CompareOptions
    plans: Plans
    matrix: Matrix
    slos: tuple[Condition, ...]
    pin: Pin | None
    """The cores of both sides; none if they share all cores, or if nodes send the load."""
    profiles: ServerProfiles | None

    @classmethod
    def of(cls, file: MatrixFile, options: CompareOptions) -> ComparisonPlan:
        """Return the comparison of a file; every load in it has been planned once."""
        pin = pin_for(options)
        plans = Plans.of_trials(file, options, pin)
        matrix = _matrix(file, plans, options)
        profiles = profiles_of(matrix, options)
        slos = plans.slos(file.candidates[0])
        return cls(file, options, plans, matrix, slos, pin, profiles)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes about its loads."""
        return tuple(self.plans.notes)

    def prepare(self, command: Sequence[str]) -> PreparedRun:
        """Return the comparison, ready to start; `command` is its command line."""
        file, options = self.file, self.options
        state = ComparisonState(
            total=self.matrix.count,
            pin=self.pin,
            uses_nodes=options.nodes is not None,
            pause_ns=file.pause_ns,
            warmup_requests=file.warmup_requests,
            servers=ServerPerTrial() if file.restart == "trial" else ServerPerCell(),
            ask_server=self.plans.ask,
            sources=sources_of(file),
        )
        head = _head(self, command)
        return PreparedRun(
            folder=options.folder,
            name=options.name,
            head=head,
            experiment=partial(self._compare, state),
            judge=partial(self._judge, state),
            record=partial(self._record, state),
            start=start_of(options, None),
            secrets=_secrets(file, self.matrix),
            notes=self.notes,
            resume=options.resume,
            check_resumed=partial(check_resumed, head, options.resume),
        )

    def _compare(self, state: ComparisonState, context: RunContext) -> Outcome:
        self.plans.noted = context.listener.noted
        with pinned(self.pin):
            comparison = MatrixRun(self.matrix, context, state)
            if self.profiles is None:
                return comparison.run()
            return self.profiles.run_after(comparison.run, self.matrix, context, state)

    def _judge(
        self, state: ComparisonState, levels: Sequence[Level], _ended_by: str | None = None
    ) -> Conclusions:
        matrix = self.matrix
        return of_trials(levels, matrix.baseline, matrix.procedure, self.slos, state.given_up)

    def _record(self, state: ComparisonState, directory: RunDirectory) -> Experiment:
        plan = _first_plan(self.matrix, self.file.candidates[0])
        record = record_of(self.matrix, state, plan, directory)
        return structs.replace(record, allow_not_shown=self.options.allow_not_shown)


def _first_plan(matrix: Matrix, candidate: Candidate) -> Plan:
    cell = matrix.cells[0]
    return matrix.plan_of(candidate, cell, candidate.any_url(cell))


def _matrix(file: MatrixFile, plans: Plans, options: CompareOptions) -> Matrix:
    if options.until and options.rounds:
        raise UsageError(say("--until and --rounds are both given"), say("leave one out"))
    matrix = Matrix(
        candidates=file.candidates,
        cells=file.cells(),
        stages=LOOKS if options.until else (options.rounds or file.rounds,),
        plan_of=plans.of,
        seed=options.seed,
        baseline=file.baseline,
        procedure=Procedure(
            primary=file.primary,
            rule=file.discard_if,
            alpha=ALPHA_OF_A_LOOK if options.until else ALPHA,
        ),
    )
    for candidate in file.candidates:
        for factors in matrix.cells:
            plans.of(candidate, factors, candidate.example_url(factors))
    return matrix


def _secrets(file: MatrixFile, matrix: Matrix) -> list[str]:
    """Return the secrets of the servers, and of the requests to them."""
    secrets = {secret for candidate in file.candidates for secret in candidate.command.secrets}
    for candidate in file.candidates:
        secrets.update(secrets_of_plan(_first_plan(matrix, candidate)))
    secrets.update(known_secrets(file.monitor.at))
    return sorted(secret for secret in secrets if len(secret) >= LEAST_SECRET)


def _head(comparison: ComparisonPlan, command: Sequence[str]) -> RunHead:
    """Return the part of result.json that is known before the comparison starts."""
    file, matrix, options = comparison.file, comparison.matrix, comparison.options
    return run_head(
        "compare",
        ["torr", *command],
        options.note,
        options.tag,
        experiment=Experiment(
            baseline=file.baseline,
            primary=None if file.primary is None else file.primary.key,
            factors={name: list(values) for name, values in file.factors.items()},
            candidates={c.name: _stored(c, matrix) for c in file.candidates},
            rounds=matrix.rounds,
            stages=list(matrix.stages),
            seed=matrix.seed,
            restart=file.restart,
            pause_ns=file.pause_ns,
            warmup_requests=file.warmup_requests,
            alpha=matrix.procedure.alpha,
            discard_if=None if file.discard_if is None else str(file.discard_if),
            pin=comparison.pin if options.nodes is None else UNSET,
            until=options.until,
        ),
    )


def _stored(candidate: Candidate, matrix: Matrix) -> JsonObject:
    factors = matrix.cells[0]
    plan = matrix.plan_of(candidate, factors, candidate.example_url(factors))
    return stored_candidate(candidate, plan, factors)
