"""A tuning from a tune file and options: its settings, its budget, the load of its trials."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torr.errors import require
from torr.experiments.tuning_time import TRIALS_OF_DEFAULT
from torr.messages.say import say
from torr.planning.cluster import pin_for
from torr.planning.matrix import AROUND_A_TRIAL_S, Plans
from torr.planning.tuning_checks import check, example_url
from torr.stats.metric import Metric, of_load
from torr.tuning.budget import NOISE_PERCENT, TuneBudget, least_trials
from torr.tuning.measured import TrialReader
from torr.tuning.procedure import TuneProcedure
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from torr.model.condition import Condition
    from torr.model.pin import Pin
    from torr.model.plan import Plan
    from torr.model.tune_effort import TuneEffort
    from torr.options.tune import TuneOptions
    from torr.sources.tune_file import TuneFile


@dataclass(frozen=True, slots=True)
class TunePlan:
    """A tuning, ready to start: its file, its procedure, its load and SLOs.

    `requested` is how many trials the user allowed; None for what the search needs.
    """

    file: TuneFile
    options: TuneOptions
    procedure: TuneProcedure
    load: Plan
    plans: Plans
    pin: Pin | None
    effort: TuneEffort | None
    slos: tuple[Condition, ...]
    trial_s: float
    requested: int | None
    noise: float
    notes: tuple[str, ...]

    @classmethod
    def of(cls, file: TuneFile, options: TuneOptions) -> TunePlan:
        """Return the tuning of a file; every placeholder in it has been filled once."""
        check(file)
        pin = pin_for(options)
        plans = Plans.of_trials(file.matrix, options, pin)
        load = plans.of(file.candidate, {}, example_url(file))
        trial_s = AROUND_A_TRIAL_S + file.matrix.pause_ns / SECOND_NS + (load.seconds or 0.0)
        effort = options.budget or file.budget
        requested = None if effort is None else effort.trials_of(trial_s, TRIALS_OF_DEFAULT)
        noise = file.noise or NOISE_PERCENT
        return cls(
            file=file,
            options=options,
            procedure=TuneProcedure(
                default=file.default,
                budget=TuneBudget.of(len(file.settings), requested, noise),
                seed=options.seed,
                metric=_metric(file, load),
            ),
            load=load,
            plans=plans,
            pin=pin,
            effort=effort,
            slos=plans.slos(file.candidate),
            trial_s=trial_s,
            requested=requested,
            noise=noise,
            notes=tuple(plans.notes),
        )

    @property
    def reader(self) -> TrialReader:
        """What reads the trials of the tuning."""
        return TrialReader(self.procedure.metric, self.slos)

    def procedure_in(self, search: int, looks: tuple[int, ...]) -> TuneProcedure:
        """Return the procedure with another budget."""
        budget = TuneBudget(len(self.file.settings), search, looks)
        return replace(self.procedure, budget=budget)

    def procedure_for(self, trial_s: float) -> TuneProcedure:
        """Return the procedure for trials that take so long; only a budget of time depends on it.

        Raise UsageError if the budget is too small to find anything.
        """
        procedure = self.procedure
        if self.effort is not None and self.effort.time_ns is not None:
            trials = self.effort.trials_of(trial_s, TRIALS_OF_DEFAULT)
            budget = TuneBudget.of(len(self.file.settings), trials, self.noise)
            procedure = replace(procedure, budget=budget)
        _check_budget(procedure.budget, trial_s, TRIALS_OF_DEFAULT)
        return procedure

    def check_trials(self) -> None:
        """Raise UsageError if a budget of trials is too small to find anything."""
        if self.effort is not None and self.effort.time_ns is None:
            _check_budget(self.procedure.budget, self.trial_s)


def _check_budget(budget: TuneBudget, trial_s: float, more: int = 0) -> None:
    """Raise UsageError if a budget is too small; `more` trials are made besides its own."""
    require(
        budget.finds_anything,
        say("the budget is too small to find anything"),
        say(
            "allow {n} trials or more, of about {seconds:.0f} s each",
            n=least_trials(budget.settings) + more,
            seconds=trial_s,
        ),
    )


def _metric(file: TuneFile, load: Plan) -> Metric:
    """Return the metric that is made best: p99 where requests come at times, else ok/s."""
    return file.matrix.primary or of_load(at_rate=load.has_schedule)
