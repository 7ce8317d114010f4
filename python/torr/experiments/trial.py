"""One trial, as the protocol of a fair comparison has it: read `_served`, and within it `made`.

The server is started on a port of its own, on cores of its own, for this trial, or for all of its
cell where that was asked for. It is fired at when it is healthy, with as many workers as were asked
for, and answers what it should; the load stops before the server does; nothing of it is left. What
goes wrong is an outcome with a name, and is kept.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torr.experiments.context import Step
from torr.experiments.level import measure
from torr.experiments.server_lifetime import ServerPerTrial
from torr.experiments.warmup import warm_up
from torr.messages.message import from_object, message
from torr.monitor.monitor import MonitorScope
from torr.results.experiment import GivenUp
from torr.results.result import TrialFailure
from torr.servers.answer import ResponseDigest, fetch_digest
from torr.servers.failure import EndedEarly, TrialError
from torr.servers.leftovers import MOST_ENTRIES, leftovers, snapshot
from torr.servers.log_file import redacted_on_exit
from torr.servers.readiness import await_ready
from torr.servers.reservation import reserve
from torr.servers.server import Server
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from torr.experiments.context import RunContext
    from torr.experiments.server_lifetime import Servers
    from torr.messages.message import Message
    from torr.model.pin import Pin
    from torr.model.plan import Plan
    from torr.monitor.monitor import MonitorSource
    from torr.results.level import Level
    from torr.servers.command import Command
    from torr.servers.leftovers import Snapshot
    from torr.servers.readiness import Ready
    from torr.servers.reservation import ServerReservation
    from torr.servers.server_exit import ServerExit
    from torr.sources.matrix_file import Candidate, Factors

    PlanOf = Callable[[Candidate, Factors, str], Plan]
    Around = Callable[[Server, Callable[[], Level]], object]

Key = tuple[str, str, int]
Spot = tuple[str, str]
"""A candidate's name, and its cell's factors as JSON."""

MOST_FAILURES = 2
"""A candidate that could not be measured so often in a row in a cell is given up there."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate under one setting in one round; round 0 is made and not kept."""

    candidate: Candidate
    factors: Factors
    round: int

    @property
    def key(self) -> Key:
        """What tells it from every other trial."""
        return _key(self.candidate.name, self.factors, self.round)

    @property
    def place(self) -> Spot:
        """The candidate and the cell, whatever the round."""
        return self.key[:2]

    @staticmethod
    def key_of(kept: Level | TrialFailure) -> Key:
        """The key of a trial that result.json has."""
        return _key(kept.candidate or "", kept.factors, kept.round)

    def unkept(self) -> Trial:
        """The same, to be made without being kept."""
        return replace(self, round=0)


def _key(candidate: str, factors: Factors, number: int) -> Key:
    return candidate, json.dumps(factors, sort_keys=True), number


@dataclass
class ComparisonState:
    """What the trials of a matrix share, and what they found out beside their numbers.

    `answers` holds what each candidate answered in a cell, `readiness` how it came up each time.
    """

    total: int
    pin: Pin | None = None
    pause_ns: int = 0
    warmup_requests: int | None = None
    servers: Servers[Server] = field(default_factory=ServerPerTrial)
    # Who else is asked for numbers, made anew for each trial.
    sources: Callable[[], tuple[MonitorSource, ...]] = tuple
    answers: dict[Spot, ResponseDigest] = field(default_factory=dict)
    readiness: dict[Spot, list[Ready]] = field(default_factory=dict)
    # What is to be said of how servers were held, each once.
    notes: dict[Message, None] = field(default_factory=dict)
    # Of each candidate in each cell, how many trials in a row came to nothing.
    failures: dict[Spot, int] = field(default_factory=dict)
    made: int = 0

    @property
    def given_up(self) -> list[GivenUp]:
        """The candidates that were given up, each with its cell."""
        return [
            GivenUp(candidate=name, factors=json.loads(factors), failures=count)
            for (name, factors), count in self.failures.items()
            if count >= MOST_FAILURES
        ]


def run_trial(trial: Trial, plan_of: PlanOf, context: RunContext, state: ComparisonState) -> bool:
    """Make a trial; whether it was measured. What went wrong is kept, before or after that."""
    kept = len(context.directory.levels)
    try:
        made(trial, plan_of, context, state)
    except TrialError as error:
        is_measured = len(context.directory.levels) > kept
        _keep(trial, error, context, is_measured=is_measured)
        return is_measured
    except EndedEarly:
        return False
    finally:
        state.made += trial.round > 0
    return True


def end_cell(context: RunContext, state: ComparisonState) -> None:
    """Stop the servers that were kept up through a cell. What goes wrong is kept."""
    for trial, error in state.servers.end():
        _keep(trial, error, context, is_measured=True)


def _keep(trial: Trial, error: TrialError, context: RunContext, *, is_measured: bool) -> None:
    """Have a failure on disk, and say it.

    Of a trial that is not kept only what it left behind: from then on nobody would see it.
    """
    if trial.round or error.kind == "left_behind":
        failure = TrialFailure(
            candidate=trial.candidate.name,
            factors=dict(trial.factors),
            round=trial.round,
            measured=is_measured,
            kind=error.kind,
            text=from_object(error.message),
            hint=None if error.hint is None else from_object(error.hint),
            log_tail=list(error.log_tail),
        )
        context.listener.trial_failed(context.directory.keep_failure(failure))


def _alone(_server: Server, load: Callable[[], Level]) -> None:
    """A load with nothing beside it."""
    load()


def made(
    trial: Trial,
    plan_of: PlanOf,
    context: RunContext,
    state: ComparisonState,
    around: Around = _alone,
) -> None:
    """The protocol; raises TrialError at the step that failed. `around` calls the load."""
    with state.servers.lent(trial, lambda: _served(trial, plan_of, context, state)) as server:
        plan = plan_of(trial.candidate, trial.factors, server.command.url)
        warm_up(plan, state.warmup_requests, context)
        step = _step(trial, plan, state)
        around(server, lambda: measure(step, _watching(context, server, state)).level)
        server.check()
    context.interrupt.wait(state.pause_ns / SECOND_NS)


@contextmanager
def _served(
    trial: Trial, plan_of: PlanOf, context: RunContext, state: ComparisonState
) -> Iterator[Server]:
    """A server that is ready and answers what it should; behind the block nothing of it is left."""
    candidate = trial.candidate
    log = _log(trial, context)
    with reserve() as here, redacted_on_exit(log, context.directory.outside.covered):
        command = _command(trial, here, state.pin)
        before = snapshot(command.cwd, ignored=context.directory.written)
        with Server.start(command, here.scratch, log) as server:
            server.is_urgent = lambda: context.interrupt.is_urgent
            ready = await_ready(server, is_over=lambda: context.interrupt.requested)
            state.readiness.setdefault(trial.place, []).append(ready)
            answer = _answered(server, plan_of(candidate, trial.factors, command.url))
            candidate.expected.check(answer, candidate.name, server.log_tail())
            state.answers[trial.place] = answer
            yield server
        stopped = server.stop()
        state.notes |= dict.fromkeys(_notes(server, before, stopped))
        left = leftovers(stopped, command.port, before)
        failure = stopped.failure() or left.failure(candidate.name, stopped.log_tail)
        if failure is not None:
            raise failure


def _notes(server: Server, before: Snapshot, stopped: ServerExit) -> Iterator[Message]:
    """What a reader should know of how the server was held."""
    name = server.command.name
    if server.without_cgroup:
        yield message(
            "rules.no_cgroup",
            "Servers were held without a control group: {why}.",
            why=server.without_cgroup,
        )
    if not before.is_whole:
        yield message(
            "rules.large_folder",
            "The folder of {name} has more than {most:,} entries: not all of them were looked at"
            " for what it left.",
            name=name,
            most=MOST_ENTRIES,
        )
    if stopped.dropped_bytes:
        yield message("rules.long_log", "{name} printed more than its log keeps.", name=name)


def _command(trial: Trial, here: ServerReservation, pin: Pin | None) -> Command:
    """What starts the server, with this trial's port, folder, factors and cores."""
    filled = trial.candidate.command.filled({"processes": 1, **trial.factors, **here.values})
    return filled if pin is None else replace(filled, cores=pin.target)


def _answered(server: Server, plan: Plan) -> ResponseDigest:
    """The answer to the first request of the load; raises TrialError where none came."""
    try:
        return fetch_digest(plan.requests[0])
    except OSError as error:
        server.check()
        said = str(error) or type(error).__name__
        raise TrialError(
            "wrong_answer",
            server.command.name,
            message(
                "trial.no_answer",
                "no answer to {request}: {error}",
                request=plan.requests[0].name,
                error=said,
            ),
            message("hint.log", "look at its log"),
            server.log_tail(),
        ) from error


def _step(trial: Trial, plan: Plan, state: ComparisonState) -> Step:
    return Step(
        index=state.made,
        plan=plan,
        round=trial.round,
        total=state.total,
        candidate=trial.candidate.name,
        factors=dict(trial.factors),
    )


def _log(trial: Trial, context: RunContext) -> Path:
    """Where the server's output goes: that of each candidate's last trial is kept with the run."""
    return context.directory.path / "logs" / f"{trial.candidate.name}.log"


def _watching(context: RunContext, server: Server, state: ComparisonState) -> RunContext:
    """The context, which watches the server's processes, and asks what else is to be asked."""
    others = [each for each in state.servers.up() if each is not server]
    return replace(
        context,
        watch=lambda: MonitorScope(
            roots=server.root_pids,
            others=lambda: [pid for each in others for pid in each.root_pids()],
            sources=state.sources(),
        ),
    )
