"""`--profile`: a trial more, behind what is measured, that says where the target's time goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.errors import require

if TYPE_CHECKING:
    from torr.experiments.profiling import Experiment
    from torr.model.plan import Plan


def with_profile(experiment: Experiment, plan: Plan, flags: dict[str, Any]) -> Experiment:
    """Return the experiment with what --profile asks for; raises UsageError where it cannot be."""
    what, at = flags["profile"], flags["profile_at"]
    if what is None:
        require(at is None, "--profile-at is given without --profile", "--profile PID|URL")
        return experiment
    from torr.experiments.profiling import Wanted, profiled
    from torr.profile.profiler import profiler_of

    if at is not None:
        plan.with_users(at)  # says at once where the load has no users
    profiler = profiler_of(what)
    profiler.check()
    return profiled(experiment, plan, Wanted(profiler, at))
