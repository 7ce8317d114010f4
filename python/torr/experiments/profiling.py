"""A profile under load: one more level after all measured ones, which it does not influence.

The cost of the profiler is the difference of its ok/s from those of the measured levels.
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
    """The profiler and the number of users, None for the level with the highest ok/s."""

    profiler: Profiler
    concurrency: int | None = None


def profiled(
    experiment: ExperimentFunction, plan: Plan, settings: ProfileSettings
) -> ExperimentFunction:
    """Return the experiment with one more level for the profile, if it is complete."""

    def with_profile(context: RunContext) -> Outcome:
        outcome = experiment(context)
        if outcome.levels and outcome.status == "complete" and outcome.ended_by is None:
            context.directory.profiles.append(_profile(plan, settings, context, outcome.levels))
        return outcome

    return with_profile


def _profile(
    plan: Plan, settings: ProfileSettings, context: RunContext, levels: Sequence[Level]
) -> Profile:
    """Return the profile, or why there is none."""
    at = _concurrency(settings, levels)
    if at != plan.concurrency:
        plan = plan.with_users(at)
    plan = plan_for_profile(plan)
    recording = ProfileRecording(settings.profiler, plan)
    # Round 0 is measured and not saved.
    step = Step(len(levels), plan, 0, len(levels) + 1)
    try:
        level = recording.run_with(lambda: measure(step, context).level, context.interrupt)
    except OutputError:  # the disk fails for all results
        raise
    except TorrError as error:
        return recording.failed(error)
    return recording.profile(level, [x for x in levels if x.concurrency == at])


def _concurrency(settings: ProfileSettings, levels: Sequence[Level]) -> int:
    if settings.concurrency is not None:
        return settings.concurrency
    return max(levels, key=_usefulness).concurrency


def _usefulness(level: Level) -> tuple[bool, float]:
    """Return the sort key of levels to profile: a generator-limited one loads the target less."""
    return not level.is_limited, level.ok_per_s
