"""The text of `torr compare --plan`: the trials, their time, and which verdicts they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.experiments.profile_recording import plan_for_profile
from torr.experiments.server_profiles import ANY_URL
from torr.stats.metric import METRICS
from torr.units import SECOND_NS, show_count, show_setting
from torr.verdicts.judgement import least_rounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.experiments.matrix import Matrix
    from torr.planning.comparison import ComparisonPlan

# Estimated time to start, check and stop a server, beyond the load.
AROUND_A_TRIAL_S = 3.0


def preview(comparison: ComparisonPlan) -> Iterator[str]:
    """Yield lines: the trials of each cell in order, their time, and the power of the rounds."""
    file, matrix = comparison.file, comparison.matrix
    for cell, factors in enumerate(matrix.cells):
        yield show_setting(factors) or "one cell"
        for number, names in enumerate(matrix.order(cell)):
            yield f"  {f'round {number}' if number else 'not counted':<12}{' → '.join(names)}"
    yield ""
    yield _duration(comparison)
    if comparison.profiles is not None:
        trials = comparison.profiles.trials_of(matrix)
        plans = [plan_for_profile(matrix.plan_of(*trial, ANY_URL)) for trial in trials]
        total_s = sum(AROUND_A_TRIAL_S + (plan.seconds or 0.0) for plan in plans)
        yield f"then {show_count(len(plans), 'profile')}, about {_minutes(total_s)} more"
    pin = comparison.pin
    yield "cores: shared" if pin is None else f"cores: {pin} (generator/target)"
    pairs = (len(file.candidates) - 1) * len(matrix.cells)
    yield _power(matrix.stages, pairs, matrix.procedure.alpha)


def _duration(comparison: ComparisonPlan) -> str:
    """Return the number of trials and their time, with the parts of it that are unknown."""
    file, matrix = comparison.file, comparison.matrix
    plans = [
        matrix.plan_of(candidate, factors, ANY_URL)
        for factors in matrix.cells
        for candidate in file.candidates
    ]
    overhead_s = AROUND_A_TRIAL_S + file.pause_ns / SECOND_NS
    round_s = sum(overhead_s + (plan.seconds or 0.0) for plan in plans)
    unknown = " and the time of their requests" if any(p.seconds is None for p in plans) else ""
    unknown += "" if file.warmup_requests is None else " and the warm-up requests"
    return f"{_trials(matrix, round_s)}{unknown}"


def _trials(matrix: Matrix, round_s: float) -> str:
    """Return the number of trials and their time, up to the first look and at most."""
    cells = show_count(len(matrix.cells), "cell")
    stages = []
    for looks, rounds in enumerate(matrix.stages, 1):
        trials = show_count(matrix.count // matrix.rounds * rounds, "trial")
        # One round that is not counted precedes the rounds up to each look.
        stages.append(f"{trials} in {cells}, about {_minutes(round_s * (rounds + looks))}")
    if len(stages) == 1:
        return stages[0]
    first = f"{show_count(matrix.stages[0], 'round')}: {stages[0]}"
    return f"{first}; at most {matrix.rounds}: {stages[-1]}"


def _power(stages: Sequence[int], pairs: int, alpha: float) -> str:
    """Return whether the rounds can decide anything, and which looks before the last cannot."""
    rounds = stages[-1]
    if pairs == 0:
        return "one candidate: there is nothing to compare it with"
    needed = least_rounds(pairs, alpha)
    text = f"{show_count(rounds, 'round')} for {show_count(pairs, 'comparison')} with the baseline"
    if rounds < needed:
        return f"{text}: too few for any verdict, {needed} are the least"
    # The other metrics are a family of their own, and a larger one.
    others = least_rounds(pairs * (len(METRICS) - 1), alpha)
    more = f"; {others} are the least for the other metrics" if rounds < others else ""
    early = [f"{look}" for look in stages if look < needed]
    if early:
        looks = f"{'look' if len(early) == 1 else 'looks'} at {' and '.join(early)} rounds"
        more = f"; the {looks} can decide nothing, {needed} are the least{more}"
    return f"{text}: enough for verdicts, where trials spread little{more}"


def _minutes(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else f"{round(seconds)} s"
