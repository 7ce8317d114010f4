"""Synthetic worlds: settings whose true rates and times are known, and trials with noise.

The true numbers are logarithms relative to the best setting. A trial adds the drift of its round,
which all trials of the round share, its own noise, and in one of twenty trials a loss of 10 to
30 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal

from torr.tuning.trials import TuneTrial
from torr.verdicts.slo_evidence import SloEvidence

if TYPE_CHECKING:
    from torr.results.tuning import TrialPlace

Surface = Literal["peaked", "plateau", "rugged"]
SURFACES: tuple[Surface, ...] = ("peaked", "plateau", "rugged")

DRIFT = 0.04
OUTLIER_SHARE = 0.05
OUTLIER_LOSS = (0.1, 0.3)
NEAR_EQUAL = 0.01
SHARE_OF_PLATEAU = 0.15
NEAR_LIMIT = 0.04
"""How far settings are within the limit of an SLO on average, where claims are simulated."""


@dataclass(frozen=True, slots=True)
class World:
    """Settings by number: true logarithms of rates, and excesses over the limit of an SLO.

    Without an SLO, `excesses` is empty. `noise` is the standard deviation of a trial.
    """

    rates: tuple[float, ...]
    excesses: tuple[float, ...]
    default: int
    noise: float

    @property
    def best(self) -> float:
        """The rate of the best setting that keeps the SLO, as a logarithm."""
        return max(rate for n, rate in enumerate(self.rates) if self.is_feasible(n))

    def is_feasible(self, setting: int) -> bool:
        """Return whether a setting keeps the SLO."""
        return not self.excesses or self.excesses[setting] <= 0


class WorldTrials:
    """Measures trials of a world; each round has a drift of its own."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._round: tuple[object, ...] = ()
        self._drift = 0.0

    def measure(self, place: TrialPlace) -> TuneTrial:
        """Return the trial at a place."""
        world, draw = self._world, self._random
        if self._round != (place.phase, place.stage, place.round):
            self._round = (place.phase, place.stage, place.round)
            self._drift = draw.gauss(0, DRIFT)
        lost = math.log1p(-draw.uniform(*OUTLIER_LOSS)) if draw.random() < OUTLIER_SHARE else 0.0
        slow = self._drift + lost
        value = math.exp(world.rates[place.setting] + slow + draw.gauss(0, world.noise))
        slos = tuple(
            SloEvidence.exact(world.excesses[place.setting] - slow + draw.gauss(0, world.noise))
            for _ in range(1 if world.excesses else 0)
        )
        return TuneTrial(place, value, slos)


def searched(
    settings: int, surface: Surface, noise: float, random: Random, *, has_slo: bool = False
) -> World:
    """Return a world with one best region; the default is any setting that keeps the SLO."""
    rates = _rates(settings, surface, random)
    best = max(rates)
    rates = [rate - best for rate in rates]
    excesses = _excesses(rates, random) if has_slo else ()
    feasible = [n for n in range(settings) if not excesses or excesses[n] <= 0]
    return World(tuple(rates), excesses, random.choice(feasible), noise)


def equal_but_default(
    settings: int, advantage: float, noise: float, random: Random, *, has_slo: bool = False
) -> World:
    """Return a world whose settings are all better than the default by the same ratio.

    With an SLO, the default keeps it, and about a sixth of the others break it: the search cannot
    tell which ones.
    """
    default = random.randrange(settings)
    rates = [0.0 if n == default else math.log1p(advantage) for n in range(settings)]
    excesses = [
        -NEAR_LIMIT if n == default else random.gauss(-NEAR_LIMIT, NEAR_LIMIT)
        for n in range(settings)
    ]
    return World(tuple(rates), tuple(excesses) if has_slo else (), default, noise)


def _rates(settings: int, surface: Surface, random: Random) -> list[float]:
    """Return true logarithms of rates on a grid of four values a parameter."""
    if surface == "rugged":
        return [random.gauss(0, 0.12) for _ in range(settings)]
    dimensions = max(1, math.ceil(math.log(settings, 4)))
    points = [[n // 4**axis % 4 for axis in range(dimensions)] for n in range(settings)]
    peak = [random.uniform(0, 3) for _ in range(dimensions)]
    slopes = [random.uniform(0.02, 0.08) for _ in range(dimensions)]
    rates = [
        -sum(slope * (x - p) ** 2 for slope, x, p in zip(slopes, point, peak, strict=True))
        + random.gauss(0, 0.01)
        for point in points
    ]
    if surface == "plateau":
        top = sorted(rates)[-max(3, round(SHARE_OF_PLATEAU * settings))]
        rates = [min(rate, top) + random.uniform(-NEAR_EQUAL, 0) for rate in rates]
    return rates


def _excesses(rates: list[float], random: Random) -> tuple[float, ...]:
    """Return excesses over the limit: faster settings take longer, as larger batches do.

    The limit is near the best settings: a third to two thirds of the fastest fifth break it.
    """
    raw = [0.3 * rate + random.gauss(0, 0.05) for rate in rates]
    fastest = sorted(range(len(rates)), key=lambda n: -rates[n])[: max(3, len(rates) // 5)]
    ordered = sorted(raw[n] for n in fastest)
    limit = ordered[random.randrange(len(ordered) // 3, 2 * len(ordered) // 3 + 1)]
    return tuple(x - limit for x in raw)
