"""One trial by the protocol of a fair comparison: `run_protocol`, and within it `_ready_server`.

The server is started on a port and cores of its own, for this trial or for all trials of its cell.
The load starts when the server is healthy, has the requested number of workers and gives the
expected answer; it stops before the server does; nothing of the server is left. A failure has a
kind and is recorded.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from msgspec import UNSET

from torr.experiments.context import Step
from torr.experiments.level import measure
from torr.experiments.once import first_alone, send_once
from torr.experiments.server_lifetime import ServerPerTrial
from torr.experiments.warmup import warm_up
from torr.messages.message import from_object, message
from torr.monitor.monitor import MonitorScope
from torr.results.base import factors_key
from torr.results.experiment import GivenUp
from torr.results.result import TrialFailure
from torr.servers.answer import ResponseDigest, digest_of, digest_of_call, fetch_digest
from torr.servers.failure import EndedEarly, TrialError
from torr.servers.leftovers import MOST_ENTRIES, leftovers, snapshot
from torr.servers.log_file import redacted_on_exit
from torr.servers.preparation import Preparation
from torr.servers.readiness import await_ready
from torr.servers.reservation import reserve
from torr.servers.server import Server
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from msgspec import UnsetType

    from torr.experiments.context import RunContext
    from torr.experiments.server_lifetime import ServerPerCell
    from torr.messages.message import Message
    from torr.model.pin import Pin
    from torr.model.plan import Plan
    from torr.monitor.monitor import MonitorSource
    from torr.results.level import Level
    from torr.results.tuning import TrialPlace
    from torr.servers.command import Command
    from torr.servers.leftovers import Snapshot
    from torr.servers.readiness import Ready
    from torr.servers.reservation import ServerReservation
    from torr.servers.server_exit import ServerExit
    from torr.sources.candidate_entry import Candidate
    from torr.sources.matrix_file import Factors

    Around = Callable[[Server, Callable[[], Level]], object]


class PlanOf(Protocol):
    """Returns the load on a candidate at a URL; requests that torr makes up differ by round."""

    def __call__(
        self, candidate: Candidate, factors: Factors, url: str, round_number: int = 0, /
    ) -> Plan:
        """Return the load."""


TrialKey = tuple[str, str, int]
"""The candidate, the factors of the cell as JSON, and the round."""
CellKey = tuple[str, str]
"""The candidate, and the factors of the cell as JSON."""

MOST_FAILURES = 2
"""A candidate with so many failed trials in a row in a cell has no further trials there."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate under one setting in one round; round 0 is not saved.

    A trial of a tuning has a place. `log_name` is that of the candidate, unless it is given.
    """

    candidate: Candidate
    factors: Factors
    round: int
    place: TrialPlace | UnsetType = UNSET
    log_name: str = ""

    @property
    def key(self) -> TrialKey:
        """The unique key of the trial."""
        return _key(self.candidate.name, self.factors, self.round)

    @property
    def cell_key(self) -> CellKey:
        """The candidate and the cell."""
        return self.key[:2]

    @staticmethod
    def key_of(saved: Level | TrialFailure) -> TrialKey:
        """Return the key of a trial in result.json."""
        return _key(saved.candidate or "", saved.factors, saved.round)

    def unsaved(self) -> Trial:
        """Return the same trial, without saving it."""
        return replace(self, round=0)


def _key(candidate: str, factors: Factors, number: int) -> TrialKey:
    return candidate, factors_key(factors), number


@dataclass
class ComparisonState:
    """The settings that all trials of a matrix share, and their results beside the levels.

    `answers` are the responses of candidates by cell, `readiness` is how each start went.
    """

    total: int
    pin: Pin | None = None
    uses_nodes: bool = False
    pause_ns: int = 0
    warmup_requests: int | None = None
    servers: ServerPerTrial[Server] | ServerPerCell[Server] = field(default_factory=ServerPerTrial)
    preparation: Preparation = field(default_factory=Preparation)
    # Asks a server that is ready, before the rounds of its cell, for what their loads depend on.
    ask_server: Callable[[Candidate, Factors, str], None] = lambda _candidate, _factors, _url: None
    # Checks the response of a server beyond what its candidate expects; may raise TrialError.
    check_answer: Callable[[Trial, ResponseDigest], None] | None = None
    # Returns other sources of the monitor, new ones for each trial, whose server has this port.
    sources: Callable[[int | None], tuple[MonitorSource, ...]] = lambda _port: ()
    answers: dict[CellKey, ResponseDigest] = field(default_factory=dict)
    readiness: dict[CellKey, list[Ready]] = field(default_factory=dict)
    # Notes on how servers were run, each once.
    notes: dict[Message, None] = field(default_factory=dict)
    # The number of failed trials in a row.
    failures: dict[CellKey, int] = field(default_factory=dict)
    trials_made: int = 0

    @property
    def given_up(self) -> list[GivenUp]:
        """The candidates that were given up, each with its cell."""
        return [
            GivenUp(candidate=name, factors=json.loads(factors), failures=count)
            for (name, factors), count in self.failures.items()
            if count >= MOST_FAILURES
        ]


def run_trial(trial: Trial, plan_of: PlanOf, context: RunContext, state: ComparisonState) -> bool:
    """Run a trial and record its failure; return whether it was measured."""
    count = len(context.directory.levels)
    try:
        run_protocol(trial, plan_of, context, state)
    except TrialError as error:
        is_measured = len(context.directory.levels) > count
        _record_failure(trial, error, context, is_measured=is_measured)
        return is_measured
    except EndedEarly:
        return False
    finally:
        state.trials_made += trial.round > 0
    return True


def end_cell(context: RunContext, state: ComparisonState) -> None:
    """Stop the servers of a cell, and record their failures."""
    for trial, error in state.servers.stop_all():
        _record_failure(trial, error, context, is_measured=True)


def _record_failure(
    trial: Trial, error: TrialError, context: RunContext, *, is_measured: bool
) -> None:
    """Save a failure, and pass it on to the listener.

    Of round 0 only leftovers are recorded, since later trials would not find them.
    """
    if trial.round or error.kind == "left_behind":
        failure = TrialFailure(
            candidate=trial.candidate.name,
            factors=dict(trial.factors),
            round=trial.round,
            place=trial.place,
            measured=is_measured,
            kind=error.kind,
            text=from_object(error.message),
            hint=None if error.hint is None else from_object(error.hint),
            log_tail=list(error.log_tail),
        )
        context.listener.trial_failed(context.directory.keep_failure(failure))


def _load_only(_server: Server, load: Callable[[], Level]) -> None:
    """Run a load."""
    load()


def run_protocol(
    trial: Trial,
    plan_of: PlanOf,
    context: RunContext,
    state: ComparisonState,
    around: Around = _load_only,
) -> None:
    """Run the steps of a trial; raise TrialError at a failed one. `around` calls the load."""
    with state.servers.server_for(
        trial, lambda: _ready_server(trial, plan_of, context, state)
    ) as server:
        plan = plan_of(trial.candidate, trial.factors, server.command.url, trial.round)
        warm_up(plan, state.warmup_requests, context)
        # Another one may have answered until now.
        server.check()
        step = Step(
            index=state.trials_made,
            plan=plan,
            round=trial.round,
            total=state.total,
            candidate=trial.candidate.name,
            factors=dict(trial.factors),
            place=trial.place,
            # Every candidate gets the same prompts, however many others were fast enough to get.
            prompts_before=state.warmup_requests or 0,
        )
        around(server, lambda: measure(step, _with_monitor(context, server, state)).level)
        server.check()
    context.interrupt.wait(state.pause_ns / SECOND_NS)


@contextmanager
def _ready_server(
    trial: Trial, plan_of: PlanOf, context: RunContext, state: ComparisonState
) -> Iterator[Server]:
    """Yield a server that is ready and gives the expected answer; then stop it completely."""
    candidate = trial.candidate
    # The log of a candidate's last trial stays.
    log = context.directory.path / "logs" / f"{trial.log_name or candidate.name}.log"
    with reserve() as here, redacted_on_exit(log, context.directory.outside.covered):
        command = _prepared(trial, here, context, state)
        before = snapshot(command.cwd, ignored=context.directory.written)
        with Server.start(command, here.scratch, log) as server:
            server.is_urgent = lambda: context.interrupt.is_urgent
            ready = await_ready(server, is_over=lambda: context.interrupt.requested)
            state.readiness.setdefault(trial.cell_key, []).append(ready)
            if trial.round == 0:
                state.ask_server(candidate, trial.factors, command.url)
            answer = _answered(server, plan_of(candidate, trial.factors, command.url))
            candidate.expected.check(answer, candidate.name, server.log_tail())
            if state.check_answer is not None:
                state.check_answer(trial, answer)
            state.answers[trial.cell_key] = answer
            yield server
        stopped = server.stop()
        state.notes |= dict.fromkeys(_notes(server, before, stopped))
        left = leftovers(stopped, command.port, before)
        failure = stopped.failure() or left.failure(candidate.name, stopped.log_tail)
        if failure is not None:
            raise failure


def _notes(server: Server, before: Snapshot, stopped: ServerExit) -> Iterator[Message]:
    """Yield notes on how the server was run."""
    name = server.command.name
    if server.without_cgroup:
        yield message(
            "rules.no_cgroup",
            "Servers ran without a control group: {why}.",
            why=server.without_cgroup,
        )
    if not before.is_whole:
        yield message(
            "rules.large_folder",
            "The folder of {name} has more than {most:,} entries: torr did not check all"
            " of them for files that the server left.",
            name=name,
            most=MOST_ENTRIES,
        )
    if stopped.dropped_bytes:
        yield message(
            "rules.long_log", "{name} printed more than torr keeps of its log.", name=name
        )


def _prepared(
    trial: Trial, here: ServerReservation, context: RunContext, state: ComparisonState
) -> Command:
    """Return the command of the server, with the port, folder, factors and cores of the trial.

    Its templates are filled, and the commands before it have run.
    """
    values = {"processes": 1, **state.preparation.otherwise, **trial.factors, **here.values}
    values |= state.preparation.write_files(values, here.scratch)
    filled = trial.candidate.command.filled(values)
    state.preparation.run(filled, values, here.scratch, is_over=lambda: context.interrupt.requested)
    return filled if state.pin is None else replace(filled, cores=state.pin.target)


def _answered(server: Server, plan: Plan) -> ResponseDigest:
    """Return the response to the first request of the load; raise TrialError without one."""
    try:
        first = plan.requests[0]
        is_message = first.is_message
        if first.grpc is None and not first.template and not is_message:
            return fetch_digest(first)
        exchange = send_once(first_alone(plan))
        if first.grpc:
            return digest_of_call(exchange)
        return digest_of(exchange, is_generated=not is_message)
    except OSError as error:
        server.check()
        said = str(error) or type(error).__name__
        raise TrialError(
            "wrong_answer",
            server.command.name,
            message(
                "trial.no_answer",
                "no response to {request}: {error}",
                request=plan.requests[0].name,
                error=said,
            ),
            message("hint.log", "look at its log"),
            server.log_tail(),
        ) from error


def _with_monitor(context: RunContext, server: Server, state: ComparisonState) -> RunContext:
    """Return the context with a monitor of the server's processes and the other sources."""
    others = [other for other in state.servers.running() if other is not server]
    return replace(
        context,
        monitor_scope=lambda: MonitorScope(
            roots=server.root_pids,
            others=lambda: [pid for other in others for pid in other.root_pids()],
            sources=state.sources(server.command.port),
        ),
    )
