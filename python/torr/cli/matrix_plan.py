"""`torr compare --plan`: the trials that would be made, their time, and what they can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from torr.experiments.profile_recording import plan_for_profile
from torr.stats.metric import METRICS
from torr.units import SECOND_NS, show_count, show_setting
from torr.verdicts.judgement import least_rounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.matrix import Matrix
    from torr.experiments.server_profiles import ServerProfiles
    from torr.model.pin import Pin
    from torr.sources.matrix_file import MatrixFile

# To start, check and stop a server, beyond what it takes itself: an estimate.
AROUND_A_TRIAL_S = 3.0


def show_plan(
    file: MatrixFile, matrix: Matrix, pin: Pin | None, profiles: ServerProfiles | None
) -> None:
    """Print the trials of each cell in their order; nothing is started."""
    # Of one round of every cell.
    seconds, unknown = 0.0, False
    for cell, factors in enumerate(matrix.cells):
        click.echo(show_setting(factors) or "one cell")
        for number, names in enumerate(matrix.order(cell)):
            click.echo(f"  {f'round {number}' if number else 'not counted':<12}{' → '.join(names)}")
        for candidate in file.candidates:
            plan = matrix.plan_of(candidate, factors, "http://localhost/")
            each = AROUND_A_TRIAL_S + file.pause_ns / SECOND_NS
            unknown |= plan.seconds is None
            seconds += each + (plan.seconds or 0.0)
    pairs = (len(file.candidates) - 1) * len(matrix.cells)
    click.echo()
    more = " and the time of their requests" if unknown else ""
    more += "" if file.warmup_requests is None else " and the warm-up requests"
    click.echo(f"{_trials(matrix, seconds)}{more}")
    if profiles is not None:
        plans = [matrix.plan_of(*place, "http://localhost/") for place in profiles.places(matrix)]
        took = sum(AROUND_A_TRIAL_S + (plan_for_profile(plan).seconds or 0.0) for plan in plans)
        click.echo(f"then {show_count(len(plans), 'profile')}, about {_clock(took)} more")
    click.echo("cores: shared" if pin is None else f"cores: {pin} (generator/target)")
    click.echo(_power(matrix.stages, pairs, matrix.procedure.alpha))


def _trials(matrix: Matrix, seconds: float) -> str:
    """How many trials there are and how long they take: after the first look, and at most."""
    cells = show_count(len(matrix.cells), "cell")
    said = []
    for looks, rounds in enumerate(matrix.stages, 1):
        trials = show_count(matrix.count // matrix.rounds * rounds, "trial")
        # Before the rounds up to each look comes one that is not counted.
        said.append(f"{trials} in {cells}, about {_clock(seconds * (rounds + looks))}")
    if len(said) == 1:
        return said[0]
    return (
        f"{show_count(matrix.stages[0], 'round')}: {said[0]}; at most {matrix.rounds}: {said[-1]}"
    )


def _power(stages: Sequence[int], pairs: int, alpha: float) -> str:
    """Whether so many rounds can decide anything, and which looks before the last cannot."""
    rounds = stages[-1]
    if pairs == 0:
        return "one candidate: there is nothing to compare it with"
    needed = least_rounds(pairs, alpha)
    said = f"{show_count(rounds, 'round')} for {show_count(pairs, 'comparison')} with the baseline"
    if rounds < needed:
        return f"{said}: too few for any verdict, {needed} are the least"
    # The other metrics are a family of their own, and a larger one.
    others = least_rounds(pairs * (len(METRICS) - 1), alpha)
    more = f"; {others} are the least for the other metrics" if rounds < others else ""
    early = [f"{look}" for look in stages if look < needed]
    if early:
        looks = f"{'look' if len(early) == 1 else 'looks'} at {' and '.join(early)} rounds"
        more = f"; the {looks} can decide nothing, {needed} are the least{more}"
    return f"{said}: enough for verdicts, where trials spread little{more}"


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else f"{round(seconds)} s"
