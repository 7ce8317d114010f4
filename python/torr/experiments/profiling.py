"""A profile under load: one more trial, behind all that is measured, so that it taints nothing.

What the profiler costs is seen in that trial's ok/s beside those that were measured, and is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import OutputError, TorrError
from torr.experiments.context import Outcome, RunContext, Step
from torr.experiments.level import measure
from torr.experiments.profile_recording import ProfileRecording, plan_for_profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.context import ExperimentFunction
    from torr.model.plan import Plan
    from torr.profile.profiler import Profiler
    from torr.results.level import Level
    from torr.results.profile import Profile


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """What to profile with, and at how many users; None: those of the level with the most ok/s."""

    profiler: Profiler
    concurrency: int | None = None


def profiled(
    experiment: ExperimentFunction, plan: Plan, wanted: ProfileSettings
) -> ExperimentFunction:
    """Return the experiment with a trial more for the profile, unless it came to nothing."""

    def whole(context: RunContext) -> Outcome:
        outcome = experiment(context)
        if outcome.levels and outcome.status == "complete" and outcome.aborted is None:
            context.directory.profiles.append(_profile(plan, wanted, context, outcome.levels))
        return outcome

    return whole


def _profile(
    plan: Plan, wanted: ProfileSettings, context: RunContext, levels: Sequence[Level]
) -> Profile:
    """The profile, or why there is none: a load that cannot be fired costs it alone."""
    at = _concurrency(wanted, levels)
    if at != plan.concurrency:
        plan = plan.with_users(at)
    plan = plan_for_profile(plan)
    taking = ProfileRecording(wanted.profiler, plan)
    # Round 0: it is measured and not kept, as what only makes the next one alike.
    step = Step(len(levels), plan, 0, len(levels) + 1)
    try:
        level = taking.beside(lambda: measure(step, context).level, context.interrupt)
    except OutputError:  # nothing else can be kept either
        raise
    except TorrError as error:
        return taking.failed(error)
    return taking.profile(level, [each for each in levels if each.concurrency == at])


def _concurrency(wanted: ProfileSettings, levels: Sequence[Level]) -> int:
    if wanted.concurrency is not None:
        return wanted.concurrency
    return max(levels, key=_usefulness).concurrency


def _usefulness(level: Level) -> tuple[bool, float]:
    """Where the generator was the limit the target had time to spare: nothing to be seen there."""
    return not level.is_limited, level.ok_per_s
