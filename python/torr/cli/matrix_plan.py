"""`torr compare --plan`: the trials that would be made, their time, and what they can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from torr.experiments.taking import for_a_while
from torr.stats.judgement import least_rounds
from torr.stats.metric import METRICS
from torr.units import SECOND_NS, show_count, show_setting

if TYPE_CHECKING:
    from torr.experiments.matrix import Matrix
    from torr.experiments.profiling_servers import Profiles
    from torr.model.pin import Pin
    from torr.sources.matrix_file import MatrixFile

# To start, check and stop a server, beyond what it takes itself: an estimate.
AROUND_A_TRIAL_S = 3.0


def show_plan(file: MatrixFile, matrix: Matrix, pin: Pin | None, profiles: Profiles | None) -> None:
    """Print the trials of each cell in their order; nothing is started."""
    seconds, unknown = 0.0, 0
    for cell, factors in enumerate(matrix.cells):
        click.echo(show_setting(factors) or "one cell")
        for number, names in enumerate(matrix.order(cell)):
            click.echo(f"  {f'round {number}' if number else 'not counted':<12}{' → '.join(names)}")
        for candidate in file.candidates:
            plan = matrix.plan_of(candidate, factors, "http://localhost/")
            each = AROUND_A_TRIAL_S + file.pause_ns / SECOND_NS
            unknown += plan.seconds is None
            seconds += (each + (plan.seconds or 0.0)) * (matrix.rounds + 1)
    pairs = (len(file.candidates) - 1) * len(matrix.cells)
    click.echo()
    click.echo(
        f"{show_count(matrix.count, 'trial')} in {show_count(len(matrix.cells), 'cell')},"
        f" about {_clock(seconds)}{' and the time of their requests' if unknown else ''}"
    )
    if profiles is not None:
        plans = [matrix.plan_of(*place, "http://localhost/") for place in profiles.places(matrix)]
        took = sum(AROUND_A_TRIAL_S + (for_a_while(plan).seconds or 0.0) for plan in plans)
        click.echo(f"then {show_count(len(plans), 'profile')}, about {_clock(took)} more")
    click.echo("cores: shared" if pin is None else f"cores: {pin} (generator/target)")
    click.echo(_power(matrix.rounds, pairs, matrix.procedure.alpha))


def _power(rounds: int, pairs: int, alpha: float) -> str:
    """Whether so many rounds can decide anything."""
    if pairs == 0:
        return "one candidate: there is nothing to compare it with"
    needed = least_rounds(pairs, alpha)
    said = f"{show_count(rounds, 'round')} for {show_count(pairs, 'comparison')} with the baseline"
    if rounds < needed:
        return f"{said}: too few for any verdict, {needed} are the least"
    # The other metrics are a family of their own, and a larger one.
    others = least_rounds(pairs * (len(METRICS) - 1), alpha)
    more = f"; {others} are the least for the other metrics" if rounds < others else ""
    return f"{said}: enough for verdicts, where trials spread little{more}"


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else f"{round(seconds)} s"
