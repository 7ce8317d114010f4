"""How many trials a tuning needs, and how the search and the fresh rounds share them.

The constants come from simulation (`torr tune --simulate`): with S search trials as below, about
90 % of searches of 64 settings or more end within 2 % of the best setting, if there is no SLO; of
24 settings 88 % at a noise of 4 %, and 74 % at 8 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torr.verdicts.looks import LOOKS

FINALISTS = 3
"""The champion and two runners-up."""
KEPT = 4
"""After each level of halving, one setting of so many stays."""
NOISE_PERCENT = 4.0
"""The standard deviation of a trial, until it has been measured."""
LEAST_SEARCH = 120
_SIMULATED = ((64, 8.0, 90), (0, 4.0, 88), (0, 8.0, 74))
"""The fewest settings, the highest noise, and the share of searches: those of 24 settings for
fewer, too."""


@dataclass(frozen=True, slots=True)
class HalvingLevel:
    """A level of the search: so many settings, each measured in so many rounds."""

    settings: int
    rounds: int

    @property
    def trials(self) -> int:
        """The number of trials, without repetitions."""
        return self.settings * self.rounds


@dataclass(frozen=True, slots=True)
class TuneBudget:
    """The trials of a tuning of `settings` settings: those of the search, and the looks after it.

    `looks` are the numbers of fresh rounds after which the finalists are judged.
    """

    settings: int
    search: int
    looks: tuple[int, ...]

    @classmethod
    def of(cls, settings: int, trials: int | None, noise: float = NOISE_PERCENT) -> TuneBudget:
        """Divide a number of trials; None stands for what the search needs and all looks.

        Fresh rounds get as many looks as leave the search what it needs, and at least one look.
        """
        needed, measured = search_trials(settings, noise), finalists_of(settings) + 1
        if trials is None:
            return cls(settings, needed, LOOKS)
        fits = [look for look in LOOKS if trials - measured * look >= needed]
        looks = LOOKS[: max(_least_looks(trials, measured), len(fits))]
        left = trials - measured * looks[-1]
        return cls(settings, max(0, left) if needed else left, looks)

    @property
    def entrants(self) -> int:
        """How many settings enter the search: those that can be measured twice on average."""
        others = self.settings - 1
        return min(others, self.search // 2) if _is_searched(self.settings) else others

    @property
    def levels(self) -> list[HalvingLevel]:
        """The levels of the search: each has about the same number of trials."""
        sizes = _sizes(self.entrants)
        levels, left = [], self.search
        for index, size in enumerate(sizes):
            rounds = max(1, left // (len(sizes) - index) // size)
            levels.append(HalvingLevel(size, rounds))
            left -= levels[-1].trials
        return levels

    @property
    def search_trials(self) -> int:
        """How many trials the search has, without repetitions of failed ones."""
        return sum(level.trials for level in self.levels)

    @property
    def all_trials(self) -> tuple[int, int]:
        """How many trials there are, without repetitions: at least, and at most."""
        least, most = self.fresh_trials
        return self.search_trials + least, self.search_trials + most

    @property
    def finds_anything(self) -> bool:
        """Whether the search can order finalists: with two trials of each, on average.

        Where there is no search, the fresh rounds have to fit.
        """
        return self.search >= _least_search(self.settings)

    @property
    def fresh_trials(self) -> tuple[int, int]:
        """How many trials the fresh rounds have: at least, and at most."""
        measured = finalists_of(self.entrants + 1) + 1
        return measured * self.looks[0], measured * self.looks[-1]


def looks_within(looks: tuple[int, ...], trials: float, measured: int) -> tuple[int, ...]:
    """Return the looks for which so many trials suffice, and the first one in any case.

    `measured` settings have a trial in each round.
    """
    fits = [look for look in looks if look * measured <= trials]
    return looks[: max(1, len(fits))]


def search_trials(settings: int, noise: float = NOISE_PERCENT) -> int:
    """Return how many search trials a tuning needs at a noise in percent."""
    if not _is_searched(settings):
        return 0
    needed = max(30 * noise, settings * (1 + noise / 2))
    return math.ceil(max(needed, LEAST_SEARCH, 3 * settings))


def simulated_share(settings: int, noise: float) -> int | None:
    """Return how many percent of simulated searches ended within 2 % of the best setting.

    They had as many trials as they need, and no SLO. None for what was not simulated.
    """
    for least, highest, share in _SIMULATED:
        if settings >= least and noise <= highest:
            return share
    return None


def least_trials(settings: int) -> int:
    """Return the fewest trials of a tuning: the first look, and two of each finalist before it."""
    return (finalists_of(settings) + 1) * LOOKS[0] + _least_search(settings)


def finalists_of(settings: int) -> int:
    """Return the number of finalists: the default is none of them."""
    return min(FINALISTS, settings - 1)


def _is_searched(settings: int) -> bool:
    """Return whether a search decides which settings are finalists."""
    return settings > 2


def _least_search(settings: int) -> int:
    return 2 * finalists_of(settings) if _is_searched(settings) else 0


def _least_looks(trials: int, measured: int) -> int:
    """Return how many looks a budget has even where the search would need more."""
    return max(1, sum(trials >= 3 * measured * look for look in LOOKS))


def _sizes(entrants: int) -> list[int]:
    """Return the numbers of settings of the levels, until the finalists remain.

    One setting needs no search; up to three are measured to order them.
    """
    sizes = [entrants] if entrants > 1 else []
    while sizes and sizes[-1] > FINALISTS:
        sizes.append(max(FINALISTS, math.ceil(sizes[-1] / KEPT)))
    return sizes[:-1] if len(sizes) > 1 else sizes
