"""`--profile`: trials more, behind what is measured, that say where a target's time goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import require

if TYPE_CHECKING:
    from torr.experiments.matrix import Matrix
    from torr.experiments.profiling import Experiment
    from torr.experiments.profiling_servers import Profiles
    from torr.model.plan import Plan
    from torr.options.compare import CompareOptions
    from torr.options.result import ResultOptions


def with_profile(experiment: Experiment, plan: Plan, options: ResultOptions) -> Experiment:
    """Return the experiment with what --profile asks for; raises UsageError where it cannot be."""
    asked, at = options.profile, options.profile_at
    if asked is None:
        require(at is None, "--profile-at is given without --profile", "--profile PID|URL")
        return experiment
    from torr.experiments.profiling import ProfileSettings, profiled
    from torr.profile.profiler import profiler_of

    if at is not None:
        plan.with_users(at)  # says at once where the load has no users
    profiler = profiler_of(asked)
    profiler.check()
    return profiled(experiment, plan, ProfileSettings(profiler, at))


def profiles_of(matrix: Matrix, options: CompareOptions) -> Profiles | None:
    """Return what --profile asks for of servers under comparison; raises UsageError."""
    asked, at = options.profile, options.profile_at
    if asked is None:
        require(at is None, "--profile-at is given without --profile", "--profile cpu")
        return None
    from torr.experiments.profiling_servers import Profiles
    from torr.profile import memory
    from torr.profile.profiler import check_for

    if asked.kind == "memory":
        memory.check()
    elif asked.url is None:
        check_for(each.command.argv[0] for each in matrix.candidates)
    return Profiles.of(asked, matrix, at)
