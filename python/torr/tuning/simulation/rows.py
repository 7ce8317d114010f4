"""The table of `torr tune --simulate`: what each procedure finds and claims in many worlds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING

from torr.tuning.simulation.racing import racing
from torr.tuning.simulation.runs import Simulate, halving, pick_best
from torr.tuning.simulation.worlds import SURFACES, World, equal_but_default, searched
from torr.verdicts.judgement import DELTA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torr.tuning.simulation.runs import SimulatedTuning

SETTINGS = 64
TRIALS = 240
NOISES = (0.02, 0.04, 0.08)
NOISE = 0.04
NEAR = 0.02
"""A recommended setting within this part of the best one counts as found."""
JUST_BELOW_MARGIN = 0.029
SLOWER = -0.05
PROCEDURES: dict[str, Simulate] = {
    "one": pick_best(1),
    "three": pick_best(3),
    "racing": racing,
    "tune": halving,
}
# Seeds of trials differ between the worlds of all seeds.
_BETWEEN_SEEDS = 1_000_000


@dataclass(frozen=True, slots=True)
class SimulatedRow:
    """What came of a procedure, in percent.

    `within` has a number for each of NOISES, without an SLO; `within_slo` is the same for worlds
    with an SLO near its limit, at a noise of NOISE.
    `regret` and `bias` are means. `null_claims`, `margin_claims` and `slo_claims` are false claims
    of at least 3 %: where no setting is better than the default, where all are better by 2.9 %, and
    where they are so and many are near the limit of an SLO, so that a runner-up may be recommended.
    `infeasible` are recommended settings that break the SLO, `slower` are those that are
    recommended where all are 5 % slower than the default.
    """

    procedure: str
    within: tuple[float, ...]
    within_slo: float
    regret: float
    null_claims: float
    margin_claims: float
    slo_claims: float
    bias: float
    infeasible: float
    slower: float


def simulated_rows(worlds: int, seed: int = 1) -> Iterator[SimulatedRow]:
    """Yield a row for each procedure, which all see the same worlds."""
    for name, simulate in PROCEDURES.items():
        yield simulated_row(name, simulate, worlds, seed)


def simulated_row(name: str, simulate: Simulate, worlds: int, seed: int = 1) -> SimulatedRow:
    """Return the row of a procedure, from so many worlds for each number."""

    def tunings(make: Callable[[Random, int], World]) -> list[SimulatedTuning]:
        made = enumerate(_worlds(make, worlds, seed), (seed - 1) * _BETWEEN_SEEDS)
        return [simulate(world, TRIALS, number) for number, world in made]

    by_noise = {noise: tunings(_searched(noise)) for noise in NOISES}
    null, margin = tunings(_equal(0.0)), tunings(_equal(JUST_BELOW_MARGIN))
    near_slo = tunings(_equal(JUST_BELOW_MARGIN, has_slo=True))
    slower = tunings(_equal(SLOWER))
    with_slo = tunings(_searched(NOISE, has_slo=True))
    return SimulatedRow(
        procedure=name,
        within=tuple(share_near_best(by_noise[noise]) for noise in NOISES),
        within_slo=share_near_best(with_slo),
        regret=100 * fmean(one.regret for one in by_noise[NOISE]),
        null_claims=share_of_false_claims(null),
        margin_claims=share_of_false_claims(margin),
        slo_claims=share_of_false_claims(near_slo),
        bias=bias_of(by_noise[NOISE]),
        infeasible=100 * fmean(one.is_infeasible for one in with_slo),
        slower=100 * fmean(one.is_slower for one in slower),
    )


def share_near_best(tunings: Sequence[SimulatedTuning]) -> float:
    """Return in percent of tunings whether the setting in use is near the best one.

    A setting that breaks the SLO is not, however fast it is.
    """
    return 100 * fmean(
        one.regret <= -math.log1p(-NEAR) and not one.is_infeasible for one in tunings
    )


def share_of_false_claims(tunings: Sequence[SimulatedTuning]) -> float:
    """Return in percent of tunings whether at least 3 % are claimed, and less is true."""
    margin = math.log1p(DELTA)
    return 100 * fmean(
        one.claim is not None and one.claim.claims_margin and (one.true_ratio or 0.0) < margin
        for one in tunings
    )


def bias_of(tunings: Sequence[SimulatedTuning]) -> float:
    """Return by how many percent claims are too high on average; 0 without a claim."""
    errors = [one.claim.ratio - (one.true_ratio or 0.0) for one in tunings if one.claim is not None]
    return 100 * fmean(errors) if errors else 0.0


def _searched(noise: float, *, has_slo: bool = False) -> Callable[[Random, int], World]:
    """Return a maker of worlds, whose surfaces take turns."""

    def make(random: Random, number: int) -> World:
        surface = SURFACES[number % len(SURFACES)]
        return searched(SETTINGS, surface, noise, random, has_slo=has_slo)

    return make


def _equal(advantage: float, *, has_slo: bool = False) -> Callable[[Random, int], World]:
    """Return a maker of worlds whose settings are all better than the default by one ratio."""

    def make(random: Random, _number: int) -> World:
        return equal_but_default(SETTINGS, advantage, NOISE, random, has_slo=has_slo)

    return make


def _worlds(make: Callable[[Random, int], World], count: int, seed: int) -> Iterator[World]:
    for number in range(count):
        # Not a secret: worlds that can be repeated.
        yield make(Random(f"world {seed} {number}"), number)  # noqa: S311
