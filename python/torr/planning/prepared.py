"""A run before its start: how its directory is opened, measured and judged.

Nothing is opened or written before `open`. NumPy, SciPy, Matplotlib and Rich are imported after
the load.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from msgspec import structs

from torr.errors import OutputError, TorrError
from torr.experiments.background import in_background
from torr.experiments.context import RunContext
from torr.messages.say import say
from torr.planning.cluster import start_of, this_machine
from torr.planning.ladder import levels_of_ladder, load_of_ladder
from torr.planning.monitoring import monitor_scope_of
from torr.planning.plan import plan_of
from torr.planning.profile import with_profile
from torr.planning.secrets import secrets_of
from torr.results.experiment import Experiment
from torr.store.run_head import run_head
from torr.store.rundir import RunDirectory
from torr.verdicts.conclusions import of_load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from torr.engine import Start
    from torr.experiments.background import Follow
    from torr.experiments.context import ExperimentFunction, ExperimentListener, Outcome
    from torr.experiments.interrupt import Interrupt
    from torr.model.condition import Condition
    from torr.model.plan import Plan
    from torr.monitor.monitor import MonitorScope
    from torr.options.measure import MeasureOptions
    from torr.results.level import Level
    from torr.results.result import Conclusions, Kind, RunHead, RunResult
    from torr.stats.tokenizer import Tokenizer


class LevelJudge(Protocol):
    """Returns the conclusions of levels; `ended_by` is what ended the load early."""

    def __call__(self, levels: Sequence[Level], ended_by: str | None = None, /) -> Conclusions:
        """Judge the levels."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRun:
    """A run, ladder or comparison that is ready to start.

    `head` is the part of result.json that is known before the load; `record` returns its experiment
    with the facts that are known at the end. No file of the run may hold one of `secrets`; `notes`
    are for the user. With `resume` the run in that directory is continued, unless
    `check_resumed` refuses it. `is_of_http` is whether the statuses of HTTP tell what succeeds: not
    those of messages of WebSocket and calls of gRPC.
    """

    folder: Path
    name: str
    head: RunHead
    experiment: ExperimentFunction
    judge: LevelJudge
    record: Callable[[RunDirectory], Experiment] | None = None
    abort_on: tuple[Condition, ...] = ()
    tokenizer: Tokenizer | None = None
    monitor_scope: Callable[[], MonitorScope] | None = None
    start: Callable[[Interrupt], AbstractContextManager[Start]] = this_machine
    secrets: Sequence[str] = ()
    notes: tuple[str, ...] = ()
    resume: Path | None = None
    check_resumed: Callable[[RunDirectory], None] | None = None
    is_of_http: bool = True

    def open(self) -> RunDirectory:
        """Return the directory of a new run, or of the run to continue."""
        if self.resume is None:
            return RunDirectory.create(self.folder, self.name, self.head, secrets=self.secrets)
        directory = RunDirectory.reopen(self.resume.resolve(), secrets=self.secrets)
        with ExitStack() as opened:
            opened.enter_context(directory)
            if self.check_resumed is not None:
                self.check_resumed(directory)
            opened.pop_all()  # it stays open
        return directory

    def measure(
        self,
        directory: RunDirectory,
        listener: ExperimentListener,
        interrupt: Interrupt,
        follow: Follow = in_background,
    ) -> Outcome:
        """Run the experiment; remove its files where it could not start or be saved."""
        try:
            with self.start(interrupt) as start:
                context = RunContext(
                    directory,
                    listener,
                    interrupt,
                    self.abort_on,
                    start=start,
                    follow=follow,
                    tokenizer=self.tokenizer,
                    monitor_scope=self.monitor_scope,
                )
                return self.experiment(context)
        except OutputError:
            with suppress(OutputError):
                directory.close("failed")
            raise
        except TorrError:
            if directory.is_empty:
                directory.abandon()
            raise

    def conclude(self, directory: RunDirectory, outcome: Outcome) -> Conclusions:
        """Return the conclusions of the measured levels; complete the head of the run."""
        return self._judged(directory, directory.full_levels(), outcome.ended_by)

    def unsaved_result(self, directory: RunDirectory) -> RunResult:
        """Return the result of a run whose directory was removed, as far as memory has it."""
        conclusions = self._judged(directory, directory.levels)
        return structs.replace(directory.unsaved_result(), **structs.asdict(conclusions))

    def _judged(
        self, directory: RunDirectory, levels: Sequence[Level], ended_by: str | None = None
    ) -> Conclusions:
        if self.record is not None:
            directory.head.experiment = self.record(directory)
        return self.judge(levels, ended_by)


def prepare(options: MeasureOptions, command: Sequence[str]) -> PreparedRun:
    """Return the run or the ladder of options; `command` is its command line."""
    if options.ladder is not None:
        options = load_of_ladder(options)
    planned = plan_of(options)
    plan, result = planned.plan, options.result
    experiment, settings = _run(plan) if options.ladder is None else _ladder(plan, options)
    kind: Kind = "run" if options.ladder is None else "ladder"
    return PreparedRun(
        folder=result.folder,
        name=result.name,
        head=run_head(
            kind,
            ["torr", *command],
            result.note,
            result.tag,
            experiment=_conditions(settings, options),
            plan=plan.as_stored(),
        ),
        experiment=with_profile(experiment, plan, result),
        judge=partial(_judge_load, kind, result.slos),
        abort_on=result.abort_on,
        tokenizer=_tokenizer(options.stream.tokenizer),
        monitor_scope=monitor_scope_of(options.urls, plan, result.monitor),
        start=start_of(options.cluster, options.load.workers, options.connection),
        secrets=secrets_of(plan, result),
        notes=(*planned.notes, *notes_about(result.slos)),
        is_of_http=not any(request.is_message or request.grpc for request in plan.requests),
    )


def notes_about(slos: Sequence[Condition]) -> tuple[str, ...]:
    """Return notes about SLOs that slow or failed responses hold, which are rarely meant."""
    return tuple(
        say("SLO {slo} is held by high values: write < to require low ones", slo=slo.text)
        for slo in slos
        if not slo.wants_little and (slo.unit == "ms" or slo.metric in ("errors", "failures"))
    )


def _judge_load(
    kind: str, slos: Sequence[Condition], levels: Sequence[Level], ended_by: str | None = None
) -> Conclusions:
    return of_load(kind, levels, slos, ended_by)


def _tokenizer(path: str | None) -> Tokenizer | None:
    """Return the tokenizer of a file, which is read before any load; None without a path."""
    if path is None:
        return None
    from torr.stats.tokenizer import read_tokenizer

    return read_tokenizer(path)


def _run(plan: Plan) -> tuple[ExperimentFunction, Experiment]:
    from torr.experiments.run import run

    return partial(run, plan), Experiment()


def _ladder(plan: Plan, options: MeasureOptions) -> tuple[ExperimentFunction, Experiment]:
    from torr.experiments.ladder import LadderPlan, ladder
    from torr.experiments.levels import AutoLevels, AutoRates, FixedRates
    from torr.options.ladder import LadderOptions

    levels = levels_of_ladder(options)
    if isinstance(levels, AutoLevels):
        levels = levels.at_least(len(plan.groups))
    rounds = (options.ladder or LadderOptions()).rounds
    ladder_plan = LadderPlan(levels, rounds, options.result.slos)
    key = "rates" if isinstance(levels, FixedRates | AutoRates) else "levels"
    settings = structs.replace(Experiment(rounds=rounds), **{key: levels.requested})
    return partial(ladder, plan, ladder_plan), settings


def _conditions(settings: Experiment, options: MeasureOptions) -> Experiment:
    """Return the settings with the conditions: SLOs, abort conditions, least capacity."""
    result, ladder = options.result, options.ladder
    least = None if ladder is None else ladder.min_capacity
    return structs.replace(
        settings,
        slos=list(map(str, result.slos)),
        slo_presets=list(dict.fromkeys(slo.preset for slo in result.slos if slo.preset)),
        abort_on=list(map(str, result.abort_on)),
        allow_not_shown=result.allow_not_shown,
        min_capacity=None if least is None else str(least),
    )
