"""Racing by t-tests, as other tuners do: what is judged are the trials that chose the setting.

After each round a setting leaves that is shown to be slower than the best one, or to break the SLO.
What is left of the trials goes to those that remain.
"""

from __future__ import annotations

import math
from functools import lru_cache
from random import Random
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from torr.results.tuning import TrialPlace
from torr.tuning.simulation.runs import SimulatedClaim, simulated
from torr.tuning.simulation.worlds import WorldTrials
from torr.verdicts.judgement import DELTA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.tuning.simulation.runs import SimulatedTuning
    from torr.tuning.simulation.worlds import World

FIRST_TEST = 3
"""The round after which settings begin to leave."""
ALPHA = 0.05


def racing(world: World, trials: int, seed: int) -> SimulatedTuning:
    """Return what a race of all settings recommends, and claims by the same trials."""
    measured = WorldTrials(world, Random(f"trials {seed}"))  # noqa: S311 - can be repeated
    rates: dict[int, list[float]] = {setting: [] for setting in range(len(world.rates))}
    excesses: dict[int, list[float]] = {setting: [] for setting in rates}
    racers, number, left = list(rates), 0, trials
    while len(racers) <= left:
        number += 1
        for setting in racers:
            trial = measured.measure(TrialPlace("search", 1, number, setting))
            rates[setting].append(math.log(trial.value or 1e-9))
            excesses[setting].append(max((x.excess for x in trial.slos), default=-1.0))
        left -= len(racers)
        if number >= FIRST_TEST:
            racers = _remaining(racers, rates, excesses, world.default)
        if racers == [world.default]:
            break
    kept = [s for s in racers if fmean(excesses[s]) <= 0] or [world.default]
    best = max(kept, key=lambda setting: fmean(rates[setting]))
    if best == world.default:
        return simulated(world, best, None)
    low, centre = _interval(rates[best], rates[world.default])
    claim = SimulatedClaim(best, centre, claims_margin=low > math.log1p(DELTA))
    return simulated(world, best, claim if low > 0 else None)


def _remaining(
    racers: Sequence[int],
    rates: dict[int, list[float]],
    excesses: dict[int, list[float]],
    default: int,
) -> list[int]:
    """Return the settings that stay; the default does, so that it can be compared with."""
    kept = [s for s in racers if _interval(excesses[s], [0.0] * len(excesses[s]))[0] <= 0]
    best = max(kept or racers, key=lambda setting: fmean(rates[setting]))
    slower = {s for s in kept if s != best and _interval(rates[best], rates[s])[0] > 0}
    return [s for s in racers if s == default or (s in kept and s not in slower)]


def _interval(some: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Return the lower end and the middle of the mean difference, by the paired t-test."""
    differences = [a - b for a, b in zip(some, others, strict=True)]
    centre, count = fmean(differences), len(differences)
    half = _quantile(count - 1) * stdev(differences) / math.sqrt(count)
    return centre - half, centre


@lru_cache
def _quantile(freedom: int) -> float:
    # scipy.stats takes a second to import.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - ALPHA / 2))
