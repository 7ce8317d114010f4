"""Runs of procedures on worlds, and what came of them.

Besides torr's procedure there are two that pick the highest mean of one or three trials of each
setting, as people do who tune by hand (and in `racing.py` a race).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING

from torr.results.tuning import TrialPlace
from torr.tuning.budget import TuneBudget
from torr.tuning.procedure import TuneProcedure
from torr.tuning.simulation.worlds import WorldTrials
from torr.verdicts.judgement import DELTA

if TYPE_CHECKING:
    from torr.tuning.simulation.worlds import World


@dataclass(frozen=True, slots=True)
class SimulatedClaim:
    """A claimed difference of a setting from the default, as the logarithm of their ratio.

    `claims_margin` says that the claim is "at least 3 % better".
    """

    setting: int
    ratio: float
    claims_margin: bool


@dataclass(frozen=True, slots=True)
class SimulatedTuning:
    """What a procedure recommends in a world, and what it claims, beside the true ratio.

    `regret` is how far the recommended setting is below the best one, as a logarithm, and
    `is_slower` whether it is below the default. Without a recommendation the default stays.
    """

    recommended: int | None
    regret: float
    claim: SimulatedClaim | None
    true_ratio: float | None
    is_infeasible: bool
    is_slower: bool = False


Simulate = Callable[["World", int, int], SimulatedTuning]
"""A procedure in a world: with so many trials, from a seed."""


def halving(world: World, trials: int, seed: int) -> SimulatedTuning:
    """Return what torr's procedure recommends."""
    measured = WorldTrials(world, Random(f"trials {seed}"))  # noqa: S311 - can be repeated
    budget = TuneBudget.of(len(world.rates), trials, 100 * world.noise)
    verdict = TuneProcedure(world.default, budget, seed).run(measured.measure).verdict
    if verdict is None:
        return simulated(world, None, None)
    recommended = verdict.recommended
    claim = verdict.against_default.get(
        verdict.finalists[0] if recommended is None else recommended
    )
    if claim is None or claim.judgement.word not in ("better", "worse"):
        return simulated(world, recommended, None)
    claims_margin = claim.judgement.word == "better" and claim.is_beyond_margin
    return simulated(
        world, recommended, SimulatedClaim(claim.setting, claim.estimate.centre, claims_margin)
    )


def pick_best(rounds: int) -> Simulate:
    """Return a procedure that measures each setting in so many rounds and picks the best mean."""

    def simulate(world: World, trials: int, seed: int) -> SimulatedTuning:
        random = Random(f"trials {seed}")  # noqa: S311 - can be repeated
        measured = WorldTrials(world, random)
        others = [n for n in range(len(world.rates)) if n != world.default]
        entrants = [world.default, *random.sample(others, min(len(others), trials // rounds - 1))]
        values: dict[int, list[float]] = {setting: [] for setting in entrants}
        excesses: dict[int, list[float]] = {setting: [] for setting in entrants}
        for number in range(rounds):
            for setting in entrants:
                trial = measured.measure(TrialPlace("search", 1, number, setting))
                values[setting].append(math.log(trial.value or 1e-9))
                excesses[setting].append(max((x.excess for x in trial.slos), default=-1.0))
        kept = [s for s in entrants if fmean(excesses[s]) <= 0] or [world.default]
        best = max(kept, key=lambda setting: fmean(values[setting]))
        ratio = fmean(values[best]) - fmean(values[world.default])
        claim = SimulatedClaim(best, ratio, claims_margin=ratio > math.log1p(DELTA))
        return simulated(world, best, claim)

    return simulate


def simulated(
    world: World, recommended: int | None, claim: SimulatedClaim | None
) -> SimulatedTuning:
    """Return what came of a procedure in a world."""
    used = world.default if recommended is None else recommended
    true_ratio = None if claim is None else world.rates[claim.setting] - world.rates[world.default]
    return SimulatedTuning(
        recommended=recommended,
        regret=max(0.0, world.best - world.rates[used]),
        claim=claim,
        true_ratio=true_ratio,
        is_infeasible=recommended is not None and not world.is_feasible(recommended),
        is_slower=world.rates[used] < world.rates[world.default],
    )
