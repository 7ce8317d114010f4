"""What every experiment works with: where loads come from, who listens, what is kept, when to end.

And what it leaves: an Outcome. Nothing here prints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from torr import engine
from torr.experiments.background import Follow, in_background
from torr.experiments.interrupt import Interrupt

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.engine import Start
    from torr.model.condition import Condition
    from torr.model.plan import Plan
    from torr.monitor.monitor import MonitorScope
    from torr.results.base import Factors
    from torr.results.level import Interval, Level
    from torr.results.result import Status, TrialFailure
    from torr.stats.tokenizer import Tokenizer
    from torr.store.rundir import RunDirectory

    ExperimentFunction = Callable[["RunContext"], "Outcome"]


@dataclass(frozen=True, slots=True)
class Step:
    """One level to measure; `total` is how many there will be, when that is known.

    `candidate` and `factors` say whose trial it is, where candidates are compared.
    """

    index: int
    plan: Plan
    round: int = 1
    total: int | None = None
    candidate: str | None = None
    factors: Factors = field(default_factory=dict)

    @property
    def is_kept(self) -> bool:
        """Whether it is measured: round 0 only makes what follows alike."""
        return self.round > 0

    @property
    def concurrency(self) -> int:
        """The users asked for, or the connections of arrivals."""
        return self.plan.concurrency


class ExperimentListener(Protocol):
    """Hears how an experiment goes on."""

    def level_started(self, step: Step) -> None:
        """A level's load has started."""

    def interval_came(self, step: Step, piece: Interval) -> None:
        """An interval was measured and is on disk."""

    def level_ended(self, step: Step, level: Level) -> None:
        """A level was measured and is on disk."""

    def trial_failed(self, failure: TrialFailure) -> None:
        """A trial came to nothing, which is on disk."""


class NullListener:
    """The listener that nobody hears."""

    def level_started(self, step: Step) -> None:
        """Ignore it."""

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Ignore it."""

    def level_ended(self, step: Step, level: Level) -> None:
        """Ignore it."""

    def trial_failed(self, failure: TrialFailure) -> None:
        """Ignore it."""


@dataclass(frozen=True, slots=True)
class ListenerGroup:
    """Listeners that all hear the same, in their order."""

    listeners: tuple[ExperimentListener, ...]

    def level_started(self, step: Step) -> None:
        """Tell each."""
        for listener in self.listeners:
            listener.level_started(step)

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Tell each."""
        for listener in self.listeners:
            listener.interval_came(step, piece)

    def level_ended(self, step: Step, level: Level) -> None:
        """Tell each."""
        for listener in self.listeners:
            listener.level_ended(step, level)

    def trial_failed(self, failure: TrialFailure) -> None:
        """Tell each."""
        for listener in self.listeners:
            listener.trial_failed(failure)


@dataclass(frozen=True, slots=True)
class RunContext:
    """The surroundings of an experiment."""

    directory: RunDirectory
    listener: ExperimentListener = field(default_factory=NullListener)
    interrupt: Interrupt = field(default_factory=Interrupt)
    abort_on: tuple[Condition, ...] = ()
    # Looked up when a context is made: tests put their own in its place.
    start: Start = field(default_factory=lambda: engine.start)
    follow: Follow = in_background
    # Who counts the tokens of streams, where that is wanted.
    tokenizer: Tokenizer | None = None
    # What to watch at a level; None watches nothing.
    watch: Callable[[], MonitorScope] | None = None


@dataclass(frozen=True, slots=True)
class MeasuredLevel:
    """One measured level, the ok/s of its intervals, and the reason to end after it, if any."""

    level: Level
    rates: tuple[float, ...] = ()
    aborted: str | None = None

    @property
    def failure(self) -> str | None:
        """Why nothing could be measured, if so."""
        return self.level.failure


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an experiment came to: its levels in the order of measuring, and how it ended.

    `is_urgent` says that the user wants it over at once: save, and draw nothing.
    """

    levels: tuple[Level, ...]
    failure: str | None = None
    aborted: str | None = None
    interrupted: bool = False
    is_urgent: bool = False

    @property
    def status(self) -> Status:
        """The word of result.json."""
        if self.interrupted:
            return "interrupted"
        return "complete" if self.failure is None else "failed"

    @classmethod
    def of(cls, measured: list[MeasuredLevel], interrupt: Interrupt) -> Outcome:
        """The outcome of these levels: a first level without any answer is a failure."""
        last = measured[-1] if measured else None
        return cls(
            levels=tuple(m.level for m in measured),
            failure=measured[0].failure if len(measured) == 1 else None,
            aborted=last.aborted if last else None,
            interrupted=interrupt.requested,
            is_urgent=interrupt.is_urgent,
        )


def is_over(measured: list[MeasuredLevel], interrupt: Interrupt) -> bool:
    """Whether no further level is to be measured: asked to end, or the target does not answer."""
    if interrupt.requested:
        return True
    if not measured:
        return False
    unanswered = len(measured) == 1 and measured[0].failure is not None
    return unanswered or measured[-1].aborted is not None
