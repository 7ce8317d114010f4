"""Profiles of servers under comparison: one more trial of each candidate, after all rounds.

Each has a new server that is checked and warmed up as for other trials, also where servers run for
a whole cell, so that no other server is idle on the same cores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from torr.errors import OutputError, TorrError, UsageError
from torr.experiments.profile_recording import ProfileRecording, plan_for_profile
from torr.experiments.server_lifetime import ServerPerTrial
from torr.experiments.trial import Trial, run_protocol
from torr.messages.message import Message, from_object, message
from torr.messages.say import say
from torr.profile.memory import hook_environment
from torr.profile.observation import Observation
from torr.profile.profiler import profiler_of
from torr.results.profile import Profile
from torr.servers.failure import EndedEarly, TrialError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.experiments.context import Outcome, RunContext
    from torr.experiments.matrix import Matrix
    from torr.experiments.trial import ComparisonState
    from torr.model.plan import Plan
    from torr.model.profiling import ProfileRequest
    from torr.results.level import Level
    from torr.servers.failure import Kind
    from torr.servers.server import Server
    from torr.sources.candidate_entry import Candidate
    from torr.sources.matrix_file import Factors


@dataclass(frozen=True, slots=True)
class ServerProfiles:
    """The requested profiles, and the cells of a matrix that get them."""

    request: ProfileRequest
    cells: tuple[Factors, ...]

    @classmethod
    def of(cls, request: ProfileRequest, matrix: Matrix, concurrency: int | None) -> ServerProfiles:
        """Return the profiles of cells with so many users, by default of the last cell."""
        if concurrency is None:
            return cls(request, tuple(matrix.cells[-1:]))
        first = matrix.candidates[0]
        plans = [matrix.plan_of(first, cell, first.any_url(cell)) for cell in matrix.cells]
        users = [plan.concurrency for plan in plans]
        cells = tuple(cell for cell, n in zip(matrix.cells, users, strict=True) if n == concurrency)
        if not cells:
            known = ", ".join(f"{n}" for n in dict.fromkeys(users))
            raise UsageError(
                say(
                    "--profile-at {concurrency}: no cell has this number of connections",
                    concurrency=concurrency,
                ),
                say("choose one of {known}", known=known),
            )
        return cls(request, cells)

    def trials_of(self, matrix: Matrix) -> list[tuple[Candidate, Factors]]:
        """Return each candidate and cell that gets a profile."""
        return [(candidate, cell) for cell in self.cells for candidate in matrix.candidates]

    def run_after(
        self,
        experiment: Callable[[], Outcome],
        matrix: Matrix,
        context: RunContext,
        state: ComparisonState,
    ) -> Outcome:
        """Run the experiment and, unless it was interrupted, the profiles after it."""
        trials = self.trials_of(matrix)
        state.total += len(trials)
        outcome = experiment()
        for candidate, cell in trials if outcome.levels else ():
            if context.interrupt.requested:
                break
            same = [
                x
                for x in outcome.levels
                if Trial.key_of(x)[:2] == Trial(candidate, cell, 0).cell_key
            ]
            with TemporaryDirectory(prefix="torr-memory-") as folder:
                of_memory = self.request.kind == "memory"
                profiled = _with_memory_profile(candidate, folder) if of_memory else candidate
                profile = _profile(
                    Trial(profiled, cell, 0), self.request, (matrix, context, state), same
                )
            named = msgspec.structs.replace(profile, candidate=candidate.name, factors=dict(cell))
            context.directory.profiles.append(named)
            state.trials_made += 1
        interrupt = context.interrupt
        return replace(outcome, interrupted=interrupt.requested, is_urgent=interrupt.is_urgent)


def _with_memory_profile(candidate: Candidate, folder: str) -> Candidate:
    """Return the candidate with processes that give their memory profile on request."""
    env = dict(candidate.command.env)
    more = hook_environment(env, Path(folder))
    command = replace(candidate.command, env=tuple({**env, **more}.items()))
    return replace(candidate, command=command)


def _profile(
    trial: Trial,
    request: ProfileRequest,
    where: tuple[Matrix, RunContext, ComparisonState],
    same: Sequence[Level],
) -> Profile:
    """Return the profile, or why there is none: its errors do not end the comparison."""
    matrix, context, state = where
    plan_of = partial(_timed_plan, matrix)
    plan = plan_of(trial.candidate, trial.factors, trial.candidate.any_url(trial.factors))
    profiles: list[Profile] = []

    def around(server: Server, load: Callable[[], Level]) -> None:
        profiler = profiler_of(request.at_port(server.command.port), server.pids())
        profiler.check()
        recording = ProfileRecording(profiler, plan)
        level = recording.run_with(load, context.interrupt)
        profiles.append(recording.profile(level, same))

    try:
        run_protocol(trial, plan_of, context, replace(state, servers=ServerPerTrial()), around)
    except EndedEarly:
        return _without_profile(
            request, plan, Observation(failure=message("profile.interrupted", "interrupted"))
        )
    except TrialError as error:
        if profiles:  # the server failed after the profile was recorded
            return _with_note(profiles[0], error.kind, from_object(error.message))
        return _without_profile(request, plan, Observation.of_error(error))
    except OutputError:  # the disk fails for all results
        raise
    except TorrError as error:
        return _without_profile(request, plan, Observation.of_error(error))
    return profiles[0]


def _with_note(profile: Profile, kind: Kind, text: Message) -> Profile:
    """Return a profile with a note on its server; a server that ended has no profiling cost."""
    cost = None if kind == "died" else profile.cost_rate
    return msgspec.structs.replace(profile, cost_rate=cost, note=text)


def _without_profile(request: ProfileRequest, plan: Plan, why: Observation) -> Profile:
    """Return a profile that was not recorded, with the reason."""
    return Profile(
        kind=request.kind,
        tool="pprof" if request.url else request.kind,
        concurrency=plan.concurrency,
        seconds=0,
        ok_per_s=None,
        failure=why.failure,
        hint=why.hint,
    )


def _timed_plan(
    matrix: Matrix, candidate: Candidate, factors: Factors, url: str, round_number: int = 0
) -> Plan:
    return plan_for_profile(matrix.plan_of(candidate, factors, url, round_number))
