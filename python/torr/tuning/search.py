"""The search: settings in rounds, of which the best quarter stays after each level of halving.

The search claims nothing. It only fixes the finalists and their order; what it measured of them is
too high, since the highest of noisy values was chosen. A search is a generator: it yields the place
of the next trial and receives the trial.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from statistics import fmean, median
from typing import TYPE_CHECKING

from torr.results.tuning import SettingOut, TrialPlace
from torr.tuning.budget import FINALISTS
from torr.tuning.trials import MOST_FAILURES

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from torr.results.tuning import Phase
    from torr.tuning.budget import HalvingLevel
    from torr.tuning.trials import TuneTrial

PENALTY = 3.0
"""How much a part of a logarithm beyond an SLO's limit costs, in logarithms of the metric."""
DISTANCE = 0.04
"""Settings closer to the limit than this part of it lose score already."""

Trials = dict[int, "TuneTrial"]
"""The trials of a round that have a value, by setting."""


@dataclass
class Failures:
    """Counts failures of settings; `out` has those that failed too often, by setting.

    `last` has why the last trial of a setting had no value; a failure counts before other reasons.
    """

    out: dict[int, SettingOut] = field(default_factory=dict)
    last: dict[int, SettingOut] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)

    def add(self, trial: TuneTrial) -> None:
        """Count a trial that failed; any other is ignored."""
        setting, problem = trial.place.setting, trial.problem
        if problem is None:
            return
        reason = SettingOut(setting, problem, trial.why)
        if not trial.is_failure:
            self.last.setdefault(setting, reason)
            return
        self.last[setting] = reason
        self._counts[setting] = self._counts.get(setting, 0) + 1
        if self._counts[setting] >= MOST_FAILURES:
            self.out.setdefault(setting, self.last[setting])

    def remaining(self, settings: Sequence[int]) -> list[int]:
        """Return the settings that are not out."""
        return [setting for setting in settings if setting not in self.out]


def measure_round(
    order: Sequence[int], failures: Failures, phase: Phase, stage: int, number: int
) -> Generator[TrialPlace, TuneTrial, Trials]:
    """Measure settings in order; those without a value are measured once more at the end."""
    measured: Trials = {}
    for attempt in (1, 2):
        for setting in order:
            if setting not in measured and setting not in failures.out:
                trial = yield TrialPlace(phase, stage, number, setting, attempt)
                failures.add(trial)
                if trial.value is not None:
                    measured[setting] = trial
    return measured


def search(
    entrants: Sequence[int],
    levels: Sequence[HalvingLevel],
    failures: Failures,
    seed: int,
    *,
    more_is_better: bool = True,
) -> Generator[TrialPlace, TuneTrial, tuple[int, ...]]:
    """Return the finalists, the best one first; fewer where too many settings are out."""
    rounds: list[Trials] = []
    settings = list(entrants)
    for stage, level in enumerate(levels, 1):
        settings = settings[: level.settings]
        for number in range(1, level.rounds + 1):
            order = failures.remaining(settings)
            # Not a secret: an order that can be repeated.
            Random(f"{seed} {stage} {number}").shuffle(order)  # noqa: S311
            rounds.append((yield from measure_round(order, failures, "search", stage, number)))
        settings = ranked(failures.remaining(settings), rounds, more_is_better=more_is_better)
        _without_value(entrants, settings, rounds, failures)
    return tuple(failures.remaining(settings)[:FINALISTS])


def ranked(
    settings: Sequence[int], rounds: Sequence[Trials], *, more_is_better: bool = True
) -> list[int]:
    """Return settings by descending score; those without any trial are left out."""
    scores = scores_of(settings, rounds, more_is_better=more_is_better)
    return sorted(scores, key=lambda setting: -scores[setting])


def scores_of(
    settings: Sequence[int], rounds: Sequence[Trials], *, more_is_better: bool = True
) -> dict[int, float]:
    """Return the score of each setting that has a trial.

    The score is the middle between mean and median of the logarithms of the primary metric, each
    relative to its round, less a penalty near and beyond the limits of the SLOs.
    """
    sign = 1.0 if more_is_better else -1.0
    relative: dict[int, list[float]] = {}
    excesses: dict[int, list[float]] = {}
    for trials in rounds:
        values = {s: sign * _log(trials[s].value or 0.0) for s in settings if s in trials}
        if not values:
            continue
        centre = median(values.values())
        for setting, value in values.items():
            relative.setdefault(setting, []).append(value - centre)
            worst = max((slo.excess for slo in trials[setting].slos), default=-1.0)
            excesses.setdefault(setting, []).append(worst)
    return {
        setting: (fmean(values) + median(values)) / 2
        - PENALTY * max(0.0, median(excesses[setting]) + DISTANCE)
        for setting, values in relative.items()
    }


def _without_value(
    entrants: Sequence[int], settings: Sequence[int], rounds: Sequence[Trials], failures: Failures
) -> None:
    """Note settings of the first level that have no trial with a value as out."""
    if len(rounds) and len(settings) < len(entrants):
        measured = {setting for trials in rounds for setting in trials}
        for setting in entrants:
            if setting not in measured and setting not in failures.out:
                failures.out[setting] = failures.last[setting]


def _log(value: float) -> float:
    # A trial without a successful request is worse than any other, and its score stays finite.
    return math.log(max(value, 1e-9))
