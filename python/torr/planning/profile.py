"""`--profile`: further levels after the measured ones, during which the target is profiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say

if TYPE_CHECKING:
    from torr.experiments.context import ExperimentFunction
    from torr.experiments.matrix import Matrix
    from torr.experiments.server_profiles import ServerProfiles
    from torr.model.plan import Plan
    from torr.options.compare import CompareOptions
    from torr.options.result import ResultOptions


def with_profile(
    experiment: ExperimentFunction, plan: Plan, options: ResultOptions
) -> ExperimentFunction:
    """Return the experiment with the profile of --profile; raise UsageError where it cannot run."""
    request, users = options.profile, options.profile_at
    if request is None:
        require(users is None, say("--profile-at is given without --profile"), "--profile PID|URL")
        return experiment
    from torr.experiments.profiling import ProfileSettings, profiled
    from torr.profile.profiler import profiler_of

    if users is not None:
        require(
            not plan.has_schedule,
            say("--profile-at is a number of users, and a load with a rate has none"),
            say("leave out --profile-at"),
        )
        plan.with_users(users)  # raises where they cannot be divided
    profiler = profiler_of(request)
    profiler.check()
    return profiled(experiment, plan, ProfileSettings(profiler, users))


def profiles_of(matrix: Matrix, options: CompareOptions) -> ServerProfiles | None:
    """Return the profiles of candidates that --profile asks for; raise UsageError."""
    request, users = options.profile, options.profile_at
    if request is None:
        require(users is None, say("--profile-at is given without --profile"), "--profile cpu")
        return None
    from torr.experiments.server_profiles import ServerProfiles
    from torr.profile import memory
    from torr.profile.profiler import check_for

    if request.kind == "memory":
        memory.check()
    elif request.url is None:
        check_for(candidate.command.argv[0] for candidate in matrix.candidates)
    return ServerProfiles.of(request, matrix, users)
