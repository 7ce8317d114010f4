"""The context of every experiment, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import UNSET

from torr import engine
from torr.experiments.background import Follow, in_background
from torr.experiments.interrupt import Interrupt
from torr.results.position import ARRIVAL, TRACE, Position, position_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from msgspec import UnsetType

    from torr.engine import Start
    from torr.model.condition import Condition
    from torr.model.plan import Plan
    from torr.monitor.monitor import MonitorScope
    from torr.results.base import Factors
    from torr.results.level import Interval, Level
    from torr.results.result import Status, TrialFailure
    from torr.results.tuning import TrialPlace
    from torr.stats.tokenizer import Tokenizer
    from torr.store.rundir import RunDirectory

    ExperimentFunction = Callable[["RunContext"], "Outcome"]


@dataclass(frozen=True, slots=True)
class Step:
    """One level to measure; `total` is the number of levels, if it is known.

    A trial of a comparison has a `candidate` and `factors`, one of a tuning a `place` as well. The
    levels of a ladder may be rates. `prompts_before` is how many of the plan's prompts its target
    has got before; without it, they are those of all earlier levels.
    """

    index: int
    plan: Plan
    round: int = 1
    total: int | None = None
    candidate: str | None = None
    factors: Factors = field(default_factory=dict)
    place: TrialPlace | UnsetType = UNSET
    is_of_rates: bool = False
    prompts_before: int | None = None

    @property
    def is_saved(self) -> bool:
        """Whether the level is saved; round 0 only gives the next rounds equal conditions."""
        return self.round > 0

    @property
    def concurrency(self) -> int:
        """The number of users, or of connections of an open loop."""
        return self.plan.concurrency

    @property
    def position(self) -> Position:
        """The position of the level in a ladder."""
        return position_of(self.concurrency, self.plan.rate_per_s if self.is_of_rates else None)

    @property
    def noun(self) -> str:
        """The unit of the position."""
        if self.is_of_rates:
            return ARRIVAL
        if self.plan.feed is not None and self.plan.has_schedule:
            return TRACE
        return "user" if self.plan.connections < self.concurrency else "connection"


class ExperimentListener:
    """Gets the events of an experiment; this one ignores them."""

    def level_started(self, step: Step) -> None:
        """Handle the start of a level's load."""

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Handle an interval that was measured and saved."""

    def level_ended(self, step: Step, level: Level) -> None:
        """Handle a level that was measured and saved."""

    def trial_failed(self, failure: TrialFailure) -> None:
        """Handle a failed trial, which was saved."""

    def trials_planned(self, least: int, most: int, seconds: float) -> None:
        """Handle the numbers of trials that are left, and how long each one takes."""

    def noted(self, note: str) -> None:
        """Handle a sentence about the experiment that the user should read before it goes on."""


@dataclass(frozen=True, slots=True)
class ListenerGroup(ExperimentListener):
    """Passes events on to several listeners in their order."""

    listeners: tuple[ExperimentListener, ...]

    def level_started(self, step: Step) -> None:
        """Pass the event on."""
        for listener in self.listeners:
            listener.level_started(step)

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Pass the event on."""
        for listener in self.listeners:
            listener.interval_came(step, piece)

    def level_ended(self, step: Step, level: Level) -> None:
        """Pass the event on."""
        for listener in self.listeners:
            listener.level_ended(step, level)

    def trial_failed(self, failure: TrialFailure) -> None:
        """Pass the event on."""
        for listener in self.listeners:
            listener.trial_failed(failure)

    def trials_planned(self, least: int, most: int, seconds: float) -> None:
        """Pass the event on."""
        for listener in self.listeners:
            listener.trials_planned(least, most, seconds)

    def noted(self, note: str) -> None:
        """Pass the event on."""
        for listener in self.listeners:
            listener.noted(note)


@dataclass(frozen=True, slots=True)
class RunContext:
    """The directory, the listener and the settings of an experiment."""

    directory: RunDirectory
    listener: ExperimentListener = field(default_factory=ExperimentListener)
    interrupt: Interrupt = field(default_factory=Interrupt)
    abort_on: tuple[Condition, ...] = ()
    # Looked up for each context, so that tests can replace it.
    start: Start = field(default_factory=lambda: engine.start)
    follow: Follow = in_background
    # Counts the tokens of streams, if there is one.
    tokenizer: Tokenizer | None = None
    # Returns the scope of a level's monitor; None monitors nothing.
    monitor_scope: Callable[[], MonitorScope] | None = None


@dataclass(frozen=True, slots=True)
class MeasuredLevel:
    """One measured level, the ok/s of its intervals, and the reason to end after it, if any."""

    level: Level
    rates: tuple[float, ...] = ()
    aborted: str | None = None

    @property
    def failure(self) -> str | None:
        """Why nothing could be measured, None if something was."""
        return self.level.failure


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an experiment: its levels in the order of measuring, and how it ended.

    `ended_by` is what ended it before its end: an abort condition, or a level that could not be
    measured. With `is_urgent` the user wants the command to end immediately: results are not drawn.
    """

    levels: tuple[Level, ...]
    failure: str | None = None
    ended_by: str | None = None
    interrupted: bool = False
    is_urgent: bool = False

    @property
    def status(self) -> Status:
        """The status in result.json."""
        if self.interrupted:
            return "interrupted"
        return "complete" if self.failure is None else "failed"

    @classmethod
    def of(
        cls, measured: list[MeasuredLevel], interrupt: Interrupt, ended_by: str | None = None
    ) -> Outcome:
        """Return the outcome of levels; a first level without any answer is a failure."""
        aborted = measured[-1].aborted if measured else None
        return cls(
            levels=tuple(m.level for m in measured),
            failure=measured[0].failure if len(measured) == 1 else None,
            ended_by=ended_by if aborted is None else f"--abort-on '{aborted}'",
            interrupted=interrupt.requested,
            is_urgent=interrupt.is_urgent,
        )


def is_over(measured: list[MeasuredLevel], interrupt: Interrupt) -> bool:
    """Return whether to measure no further level, after an interrupt or without an answer."""
    if interrupt.requested:
        return True
    if not measured:
        return False
    unanswered = len(measured) == 1 and measured[0].failure is not None
    return unanswered or measured[-1].aborted is not None
