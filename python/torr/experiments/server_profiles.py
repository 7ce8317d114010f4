"""Profiles of servers under comparison: a trial more of each candidate, behind all rounds.

Each is made as any other trial is: a server of its own, on its cores, checked and warmed up. That
holds where servers are kept up through their cell too: none of the others lies idle beside it.
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
from torr.experiments.trial import Trial, made
from torr.messages.message import Message, from_object, message
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
    from torr.sources.matrix_file import Candidate, Factors

ANY_URL = "http://localhost/"


@dataclass(frozen=True, slots=True)
class ServerProfiles:
    """What to profile, and in which cells of a matrix."""

    asked: ProfileRequest
    cells: tuple[Factors, ...]

    @classmethod
    def of(cls, asked: ProfileRequest, matrix: Matrix, concurrency: int | None) -> ServerProfiles:
        """Return those at some users, else of the last cell; raises UsageError where none is."""
        if concurrency is None:
            return cls(asked, tuple(matrix.cells[-1:]))
        users = [matrix.plan_of(matrix.candidates[0], x, ANY_URL).concurrency for x in matrix.cells]
        cells = tuple(cell for cell, n in zip(matrix.cells, users, strict=True) if n == concurrency)
        if not cells:
            known = ", ".join(f"{n}" for n in dict.fromkeys(users))
            raise UsageError(
                f"--profile-at {concurrency}: no cell has so many connections",
                f"one of {known}",
            )
        return cls(asked, cells)

    def trials_of(self, matrix: Matrix) -> list[tuple[Candidate, Factors]]:
        """Return every candidate in every cell that gets a profile."""
        return [(candidate, cell) for cell in self.cells for candidate in matrix.candidates]

    def behind(
        self,
        experiment: Callable[[], Outcome],
        matrix: Matrix,
        context: RunContext,
        state: ComparisonState,
    ) -> Outcome:
        """Make the experiment and, unless it was ended, the profiles behind it."""
        places = self.trials_of(matrix)
        state.total += len(places)
        outcome = experiment()
        for candidate, cell in places if outcome.levels else ():
            if context.interrupt.requested:
                break
            same = [
                x for x in outcome.levels if Trial.key_of(x)[:2] == Trial(candidate, cell, 0).place
            ]
            with TemporaryDirectory(prefix="torr-memory-") as folder:
                of_memory = self.asked.kind == "memory"
                whom = _askable(candidate, folder) if of_memory else candidate
                found = _profile(Trial(whom, cell, 0), self.asked, (matrix, context, state), same)
            whose = {"candidate": candidate.name, "factors": dict(cell)}
            context.directory.profiles.append(msgspec.structs.replace(found, **whose))
            state.made += 1
        return outcome


def _askable(candidate: Candidate, folder: str) -> Candidate:
    """The same candidate, whose processes can be asked for their memory."""
    env = dict(candidate.command.env)
    more = hook_environment(env, Path(folder))
    command = replace(candidate.command, env=tuple({**env, **more}.items()))
    return replace(candidate, command=command)


def _profile(
    trial: Trial,
    asked: ProfileRequest,
    where: tuple[Matrix, RunContext, ComparisonState],
    same: Sequence[Level],
) -> Profile:
    """One profile, or why there is none: what goes wrong here costs it alone."""
    matrix, context, state = where
    plan_of = partial(_by_time, matrix)
    plan = plan_of(trial.candidate, trial.factors, ANY_URL)
    taken: list[Profile] = []

    def around(server: Server, load: Callable[[], Level]) -> None:
        profiler = profiler_of(asked.at_port(server.command.port), server.pids())
        profiler.check()
        taking = ProfileRecording(profiler, plan)
        taken.append(taking.profile(taking.beside(load, context.interrupt), same))

    try:
        made(trial, plan_of, context, replace(state, servers=ServerPerTrial()), around)
    except EndedEarly:
        return _nothing(
            asked, plan, Observation(failure=message("profile.interrupted", "interrupted"))
        )
    except TrialError as error:
        if taken:  # it was taken before its server ended, or would not stop
            return _noted(taken[0], error.kind, from_object(error.message))
        return _nothing(asked, plan, Observation.of_error(error))
    except OutputError:  # nothing else can be kept either
        raise
    except TorrError as error:
        return _nothing(asked, plan, Observation.of_error(error))
    return taken[0]


def _noted(profile: Profile, kind: Kind, text: Message) -> Profile:
    """A profile with what became of its server; what one answered that ended is no cost."""
    cost = None if kind == "died" else profile.cost_rate
    return msgspec.structs.replace(profile, cost_rate=cost, note=text)


def _nothing(asked: ProfileRequest, plan: Plan, why: Observation) -> Profile:
    """What is known of a profile that was not taken."""
    return Profile(
        kind=asked.kind,
        tool="pprof" if asked.url else asked.kind,
        concurrency=plan.concurrency,
        seconds=0,
        ok_per_s=None,
        failure=why.failure,
        hint=why.hint,
    )


def _by_time(matrix: Matrix, candidate: Candidate, factors: Factors, url: str) -> Plan:
    return plan_for_profile(matrix.plan_of(candidate, factors, url))
