"""`torr tune`: trials of settings, in the order in which the procedure asks for them.

Before the first one, the default setting is started twice and loaded, without saving it: a tuning
of a server that does not start ends here, and its responses are those that every other setting must
give. Trials that are on the disk are not measured again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from msgspec import UNSET

from torr.errors import NothingMeasuredError
from torr.experiments.context import Outcome, RunContext
from torr.experiments.trial import ComparisonState, Trial, end_cell, run_protocol, run_trial
from torr.experiments.tuning_time import TRIALS_OF_DEFAULT, TuningTime
from torr.messages.message import message, message_list
from torr.messages.say import say
from torr.servers.differences import differences
from torr.servers.failure import EndedEarly, TrialError
from torr.tuning.response_needs import lacking, response_needs
from torr.tuning.trials import LIMITED, NO_NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.experiments.trial import PlanOf
    from torr.messages.message import Message
    from torr.model.settings import Setting
    from torr.results.level import Level
    from torr.results.tuning import TrialPlace
    from torr.servers.answer import ResponseDigest
    from torr.servers.server import Server
    from torr.sources.candidate_entry import Candidate
    from torr.tuning.measured import TrialReader
    from torr.tuning.procedure import TuneProcedure
    from torr.tuning.trials import TuneTrial

DEFAULT = "default"
AFTER_THE_LOAD = ("did_not_stop", "bad_end", "left_behind")
"""Failures of a server that do not change what was measured of it."""
_OF_ANY_SETTING = (LIMITED, "no_success", NO_NUMBER)
"""Problems of both trials of the default that other settings would have too."""
_OF_CONTENT = ("answers.status", "answers.bodies", "answers.types")


@dataclass(frozen=True, slots=True)
class SettingTrials:
    """The settings of a tuning, and how a trial of each is made; `default` is a number of one."""

    settings: Sequence[Setting]
    default: int
    candidate_in: Callable[[Setting], Candidate]
    plan_of: PlanOf
    reader: TrialReader

    def trial(self, setting: int, place: TrialPlace | None = None) -> Trial:
        """Return the trial of a setting; without a place it is not saved."""
        values = self.settings[setting]
        candidate = self.candidate_in(values)
        log = f"{candidate.name}-{setting}"
        if place is None:
            return Trial(candidate, values, 0, log_name=log)
        return Trial(candidate, values, place.round, place, log)


@dataclass
class DefaultAnswers:
    """The responses of the default, with which those of other settings are compared."""

    default: int = 0
    known: list[ResponseDigest] = field(default_factory=list)

    def check(self, trial: Trial, answer: ResponseDigest) -> None:
        """Raise TrialError (wrong_answer) if a saved trial has another response.

        Bodies are compared only if all of the default were the same, so far.
        """
        is_default = trial.place is UNSET or trial.place.setting == self.default
        wrong = self._differences(trial.candidate.name, answer, is_default=is_default)
        if wrong:
            hint = message(
                "hint.other_answer",
                "if it is right, write what you expect: expect = {{ status = 200 }}",
            )
            raise TrialError("wrong_answer", trial.candidate.name, message_list(" ", wrong), hint)
        if is_default:
            self.known.append(answer)

    def _differences(self, name: str, answer: ResponseDigest, *, is_default: bool) -> list[Message]:
        if not self.known:
            return []
        is_stable = not is_default and len({known.body_sha256 for known in self.known}) == 1
        codes = [code for code in _OF_CONTENT if is_stable or code != "answers.bodies"]
        found = differences({DEFAULT: self.known[0], name: answer})
        return [sentence for sentence in found if sentence.code in codes]


class TuneRun:
    """Measures the trials of a tuning that are not on the disk yet."""

    def __init__(
        self,
        trials: SettingTrials,
        procedure_for: Callable[[float], TuneProcedure],
        context: RunContext,
        state: ComparisonState,
        time_spent: TuningTime | None = None,
    ) -> None:
        """`procedure_for` returns the procedure, given the mean time of a trial in seconds."""
        self._trials = trials
        self._procedure_for = procedure_for
        self._context = context
        self._state = state
        self._time = time_spent or TuningTime()
        self._of_default: list[Level] = []

    def run(self) -> Outcome:
        """Run the procedure to its end, or until an interrupt."""
        directory = self._context.directory
        try:
            trial_s = self._try_default()
            procedure = self._procedure_for(trial_s)
            self._note_few_responses(procedure)
            known = self._known()
            self._state.trials_made = len(known)
            left = [max(0, count - len(known)) for count in procedure.budget.all_trials]
            self._context.listener.trials_planned(left[0], left[1], trial_s)
            self._time.trials = len(known)
            self._time.earlier_s = len(known) * trial_s
            self._time.has_fresh_rounds = any(place.phase == "fresh" for place in known)
            procedure.run(partial(self._measured, known), self._time.choose_looks)
        except EndedEarly:
            pass
        finally:
            end_cell(self._context, self._state)
        interrupt = self._context.interrupt
        return Outcome(
            levels=tuple(directory.levels),
            interrupted=interrupt.requested,
            is_urgent=interrupt.is_urgent,
        )

    def _known(self) -> dict[TrialPlace, TuneTrial]:
        """Return the trials on the disk.

        The server of the last one may not have been checked after its load: without the readings
        of the monitor, which follow, or a failure that was found, it is repeated.
        """
        directory = self._context.directory
        known = self._trials.reader.trials(directory.levels, directory.failures)
        last = directory.levels[-1] if directory.levels else None
        if last is None or last.monitor is not None or last.place is UNSET:
            return known
        if not any(failure.place == last.place for failure in directory.failures):
            known.pop(last.place, None)
        return known

    def _try_default(self) -> float:
        """Start and load the default; return how long a trial takes, in seconds.

        A tuning that is continued may have found that the default fails.
        """
        trial, seconds = self._trials.trial(self._trials.default), []

        def keep(_server: Server, load: Callable[[], Level]) -> None:
            self._of_default.append(load())

        for _ in range(TRIALS_OF_DEFAULT):
            began_s = time.monotonic()
            try:
                run_protocol(trial, self._trials.plan_of, self._context, self._state, keep)
            except TrialError as error:
                if self._context.directory.is_empty and error.kind not in AFTER_THE_LOAD:
                    raise
            if self._context.interrupt.requested:
                raise EndedEarly
            seconds.append(time.monotonic() - began_s)
        if self._context.directory.is_empty:
            self._check_default()
        return fmean(seconds)

    def _check_default(self) -> None:
        """Raise NothingMeasuredError if both trials of the default have no number.

        Users that starve, or requests that are never sent, can be reasons for a tuning.
        """
        problems = list(map(self._trials.reader.problem_of, self._of_default))
        hopeless = [why for kind, why in problems if kind in _OF_ANY_SETTING]
        if len(hopeless) == TRIALS_OF_DEFAULT:
            raise NothingMeasuredError(
                say("the trials of the default have no number: {why}", why=hopeless[-1] or ""),
                say("change the load, such as its connections or its duration"),
            )

    def _note_few_responses(self, procedure: TuneProcedure) -> None:
        """Say which SLOs the responses of the default's trials would be too few to show."""
        if not self._of_default:
            return
        level = min(self._of_default, key=lambda level: level.counts.ok)
        reader, looks = self._trials.reader, procedure.budget.looks
        needs = response_needs(reader.metric, reader.slos, looks[-1])
        for note in lacking(needs, level.counts.ok, level.seconds):
            self._context.listener.noted(note)

    def _measured(self, known: dict[TrialPlace, TuneTrial], place: TrialPlace) -> TuneTrial:
        """Return the trial at a place: the one on the disk, or a new one."""
        if place in known:
            return known[place]
        if self._context.interrupt.requested:
            raise EndedEarly
        directory = self._context.directory
        levels, failures = len(directory.levels), len(directory.failures)
        trial = self._trials.trial(place.setting, place)
        self._time.trials += 1
        run_trial(trial, self._trials.plan_of, self._context, self._state)
        new = self._trials.reader.trials(directory.levels[levels:], directory.failures[failures:])
        if place not in new:
            raise EndedEarly  # cut short, or not begun
        return new[place]
