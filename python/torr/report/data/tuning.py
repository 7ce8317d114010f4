"""The data of a tuning as reports show them: settings by name, what the search saw, finalists."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from torr.messages.say import Text, say
from torr.model.settings import settings_of
from torr.results.tuning import TuningOutcome
from torr.stats.metric import OK_PER_S, Metric
from torr.tuning.measured import TrialReader
from torr.units import show_setting

if TYPE_CHECKING:
    from torr.messages.message import Message
    from torr.model.settings import Setting, TunedParameter
    from torr.results.result import RunResult
    from torr.results.tuning import TunedSetting


@dataclass
class SearchedSetting:
    """What the search saw of a setting.

    `first` is the number of its first trial, `rounds` counts its trials with a number, and `stage`
    is the last halving step in which it was measured.
    """

    setting: int
    values: Setting
    first: float | None = None
    rounds: int = 0
    stage: int = 0

    @property
    def name(self) -> str:
        """The setting in words."""
        return show_setting(self.values)


@dataclass(frozen=True, slots=True)
class Tuning:
    """A tuning: its parameters, what the search saw, and what the fresh rounds show."""

    parameters: list[TunedParameter]
    settings: list[Setting]
    default: int
    metric: Metric
    outcome: TuningOutcome
    searched: list[SearchedSetting] = field(default_factory=list)

    @classmethod
    def of(cls, result: RunResult) -> Tuning:
        """Return the data of a tuning, complete or not."""
        experiment = result.experiment
        settings = settings_of(experiment.parameters)
        metric = Metric(experiment.primary or OK_PER_S)
        return cls(
            parameters=experiment.parameters,
            settings=settings,
            default=experiment.default or 0,
            metric=metric,
            outcome=result.tuning or TuningOutcome(is_complete=False),
            searched=_searched(result, settings, metric),
        )

    def name(self, setting: int) -> str:
        """Return a setting in words."""
        return show_setting(self.settings[setting])

    def place(self, setting: int) -> Text:
        """Return what a setting of the fresh rounds is: the default, or which finalist."""
        if setting == self.default:
            return say("default")
        place = self.outcome.finalists.index(setting)
        return say("runner-up {n}", n=place) if place else say("champion")

    @property
    def rows(self) -> list[TunedSetting]:
        """The settings of the fresh rounds: the recommended one first, the default last."""
        outcome = self.outcome
        measured = sorted(outcome.measured, key=lambda x: x.setting != outcome.recommended)
        return [*measured, *([] if outcome.default is None else [outcome.default])]

    @property
    def noise(self) -> float | None:
        """The standard deviation of a trial in percent, from differences of the same round."""
        claims = [row.against_default for row in self.rows]
        spreads = [claim.spread for claim in claims if claim is not None and claim.spread]
        return 100 * median(spreads) / math.sqrt(2) if spreads else None

    @property
    def reasons(self) -> dict[int, Message | str]:
        """Why settings are out, by number."""
        return {out.setting: out.why or out.problem for out in self.outcome.out}


def _searched(result: RunResult, settings: list[Setting], metric: Metric) -> list[SearchedSetting]:
    """Return what the search saw, the settings that stayed longest first."""
    found: dict[int, SearchedSetting] = {}
    for place, trial in TrialReader(metric).trials(result.levels, result.failures).items():
        if place.phase != "search" or trial.is_failure:
            continue
        seen = found.setdefault(
            place.setting, SearchedSetting(place.setting, settings[place.setting])
        )
        if trial.value is None:
            continue
        seen.rounds += 1
        seen.stage = max(seen.stage, place.stage)
        seen.first = trial.value if seen.first is None else seen.first
    sign = -1.0 if metric.more_is_better else 1.0
    return sorted(found.values(), key=lambda seen: (-seen.stage, sign * (seen.first or 0.0)))
