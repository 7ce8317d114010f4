"""A tuning that is ready to start: its experiment, its conclusions, the head of its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from torr.experiments.pinning import pinned
from torr.experiments.trial import ComparisonState
from torr.experiments.tuning import DefaultAnswers, SettingTrials, TuneRun
from torr.experiments.tuning_time import TuningTime
from torr.model.secrets import LEAST_SECRET, known_secrets
from torr.planning.cluster import start_of
from torr.planning.monitoring import sources_of
from torr.planning.prepared import PreparedRun
from torr.planning.resumed import check_resumed
from torr.planning.secrets import secrets_of_plan
from torr.planning.setting_use import setting_use
from torr.planning.stored_candidate import stored_candidate
from torr.results.experiment import Experiment
from torr.results.result import Conclusions
from torr.store.run_head import run_head
from torr.tuning.outcome import outcome_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.context import Outcome, RunContext
    from torr.model.plan import Plan
    from torr.planning.tuning import TunePlan
    from torr.results.base import Factors
    from torr.results.level import Level
    from torr.results.result import RunHead, TrialFailure
    from torr.sources.candidate_entry import Candidate
    from torr.store.rundir import RunDirectory
    from torr.tuning.procedure import TuneProcedure


def prepare_tuning(tuning: TunePlan, command: Sequence[str]) -> PreparedRun:
    """Return a tuning, ready to start; `command` is its command line."""
    tuning.check_trials()
    options, head = tuning.options, _head(tuning, command)
    run = TuningRun(tuning)
    return PreparedRun(
        folder=options.folder,
        name=options.name,
        head=head,
        experiment=run.measure,
        judge=run.judge,
        record=run.record,
        start=start_of(options, None),
        secrets=_secrets(tuning),
        notes=tuning.notes,
        resume=options.resume,
        check_resumed=partial(check_resumed, head, options.resume),
    )


def compares_answers(tuning: TunePlan) -> bool:
    """Return whether other settings have to give the default's response.

    If the file has `expect`, they have to give that one. Texts of streams differ by themselves.
    """
    is_stream = any(request.stream for request in tuning.load.requests)
    return not tuning.file.has_expectation and not is_stream


@dataclass
class TuningRun:
    """A tuning while it runs: its procedure, once it is known, and the failures so far."""

    tuning: TunePlan
    procedure: TuneProcedure | None = None
    failures: list[TrialFailure] = field(default_factory=list)

    def measure(self, context: RunContext) -> Outcome:
        """Run the tuning to its end, or until an interrupt."""
        tuning = self.tuning
        self.failures = context.directory.failures
        file = tuning.file
        state = ComparisonState(
            total=tuning.procedure.budget.all_trials[1],
            pin=tuning.pin,
            uses_nodes=tuning.options.nodes is not None,
            pause_ns=file.matrix.pause_ns,
            warmup_requests=file.matrix.warmup_requests,
            preparation=file.preparation,
            sources=sources_of(file.matrix),
        )
        tuning.plans.noted = context.listener.noted
        state.ask_server = self._ask
        if compares_answers(tuning):
            state.check_answer = DefaultAnswers(file.default).check
        trials = SettingTrials(
            file.settings, file.default, file.candidate_in, self._plan_of, tuning.reader
        )

        if context.directory.head.experiment.search is not None:
            # An interrupt of a continued tuning, before its first trial, takes no conclusion away.
            self.procedure = self._procedure(context.directory, 0)

        def procedure_for(trial_s: float) -> TuneProcedure:
            self.procedure = self._procedure(context.directory, trial_s)
            state.total = self.procedure.budget.all_trials[1]
            return self.procedure

        def keep_looks(looks: tuple[int, ...]) -> None:
            self.keep_looks(context.directory, looks)
            state.total = self.procedure.budget.all_trials[1] if self.procedure else 0

        time_spent = TuningTime(
            None if tuning.effort is None else tuning.effort.seconds, keep_looks
        )
        with pinned(tuning.pin):
            return TuneRun(trials, procedure_for, context, state, time_spent).run()

    def keep_looks(self, directory: RunDirectory, looks: tuple[int, ...]) -> None:
        """Leave out the other looks, also when this tuning is continued."""
        head = directory.head
        head.experiment = structs.replace(head.experiment, stages=list(looks))
        directory.keep_head()
        self.procedure = self.tuning.procedure_in(head.experiment.search or 0, looks)

    def judge(self, levels: Sequence[Level], _ended_by: str | None = None) -> Conclusions:
        """Return what was found after these levels and the failures so far."""
        tuning, procedure = self.tuning, self.procedure
        if procedure is None:
            return Conclusions()
        trials = tuning.reader.trials(levels, self.failures)
        replay = procedure.replay(trials)
        settings, metric = tuning.file.settings, procedure.metric
        outcome = outcome_of(replay, trials, settings, metric, tuning.slos)
        if outcome.recommended is not None:
            outcome.use = setting_use(tuning.file, settings[outcome.recommended])
        return Conclusions(tuning=outcome)

    def record(self, directory: RunDirectory) -> Experiment:
        """Return the experiment with what is known at the end."""
        return structs.replace(
            directory.head.experiment, allow_not_shown=self.tuning.options.allow_not_shown
        )

    def _plan_of(
        self, candidate: Candidate, _setting: Factors, url: str, round_number: int = 0, /
    ) -> Plan:
        """Return the load, which is the same for all settings: a parameter may be called rate."""
        return self.tuning.plans.of(candidate, {}, url, round_number)

    def _ask(self, candidate: Candidate, _setting: Factors, url: str) -> None:
        self.tuning.plans.ask(candidate, {}, url)

    def _procedure(self, directory: RunDirectory, trial_s: float) -> TuneProcedure:
        """Return the procedure: that of the tuning's start, if it is continued."""
        experiment = directory.head.experiment
        if experiment.search is not None:
            return self.tuning.procedure_in(experiment.search, tuple(experiment.stages))
        procedure = self.tuning.procedure_for(trial_s)
        budget = procedure.budget
        directory.head.experiment = structs.replace(
            experiment, search=budget.search, stages=list(budget.looks)
        )
        return procedure


def _secrets(tuning: TunePlan) -> list[str]:
    """Return the secrets of the server and of the requests to it; values of parameters are none."""
    file = tuning.file
    secrets = {*file.candidate.command.secrets, *secrets_of_plan(tuning.load)}
    secrets.update(known_secrets(file.matrix.monitor.at))
    return sorted(secret for secret in secrets if len(secret) >= LEAST_SECRET)


def _head(tuning: TunePlan, command: Sequence[str]) -> RunHead:
    """Return the part of result.json that is known before the tuning starts."""
    file, options, procedure = tuning.file, tuning.options, tuning.procedure
    default = file.settings[file.default]
    has_time = tuning.effort is not None and tuning.effort.time_ns is not None
    return run_head(
        "tune",
        ["torr", *command],
        options.note,
        options.tag,
        experiment=Experiment(
            primary=procedure.metric.key,
            slos=list(map(str, tuning.slos)),
            slo_presets=list(dict.fromkeys(slo.preset for slo in tuning.slos if slo.preset)),
            candidates={
                file.candidate.name: stored_candidate(
                    file.candidate_in(default), tuning.load, default, file.preparation
                )
            },
            # Copies: a run directory makes the texts of its head safe to keep.
            parameters=list(map(structs.replace, file.parameters)),
            default=file.default,
            budget=None if tuning.effort is None else str(tuning.effort),
            search=None if has_time else procedure.budget.search,
            stages=[] if has_time else list(procedure.budget.looks),
            seed=procedure.seed,
            pause_ns=file.matrix.pause_ns,
            warmup_requests=file.matrix.warmup_requests,
            pin=tuning.pin if options.nodes is None else UNSET,
        ),
    )
