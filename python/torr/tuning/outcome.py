"""What a tuning found, as result.json has it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from torr.results.tuning import TunedSetting, TuningOutcome
from torr.results.verdict import Verdict
from torr.stats.estimate import ratio_of
from torr.stats.signed_rank import UNBOUNDED
from torr.units import show_setting
from torr.verdicts.judgement import DELTA
from torr.verdicts.looks import ALPHA_OF_A_LOOK
from torr.verdicts.slo_excess import value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torr.model.condition import Condition
    from torr.model.settings import Setting
    from torr.results.tuning import TrialPlace
    from torr.results.verdict import Ends
    from torr.stats.metric import Metric
    from torr.stats.signed_rank import Interval
    from torr.tuning.procedure import TuneReplay
    from torr.tuning.trials import TuneTrial
    from torr.verdicts.slo_evidence import SloFinding
    from torr.verdicts.tuning import SettingClaim, TuneVerdict


def outcome_of(
    replay: TuneReplay,
    trials: Mapping[TrialPlace, TuneTrial],
    settings: Sequence[Setting],
    metric: Metric,
    slos: Sequence[Condition],
) -> TuningOutcome:
    """Return what was found after these trials."""
    found = replay.findings
    outcome = TuningOutcome(
        is_complete=replay.following is None,
        finalists=list(found.finalists),
        out=list(found.out),
        untried=len(found.untried),
        untried_settings=list(found.untried),
    )
    verdict = found.verdict
    if verdict is None:
        return outcome
    writer = _Writer(verdict, _fresh(trials.values(), verdict), settings, metric, slos)
    outcome.rounds = verdict.rounds
    outcome.default = None if verdict.default is None else writer.setting(verdict.default)
    outcome.measured = [writer.setting(setting) for setting in verdict.finalists]
    outcome.recommended = verdict.recommended
    outcome.tied = list(verdict.tied)
    return outcome


def _fresh(trials: Iterable[TuneTrial], verdict: TuneVerdict) -> dict[int, list[TuneTrial]]:
    """Return the trials of fresh rounds up to the last look, by setting; those with a number."""
    fresh: dict[int, list[TuneTrial]] = {}
    for trial in trials:
        place = trial.place
        if place.phase == "fresh" and place.round <= verdict.rounds and trial.value is not None:
            fresh.setdefault(place.setting, []).append(trial)
    return fresh


@dataclass(frozen=True, slots=True)
class _Writer:
    verdict: TuneVerdict
    fresh: Mapping[int, Sequence[TuneTrial]]
    settings: Sequence[Setting]
    metric: Metric
    slos: Sequence[Condition]

    def setting(self, setting: int) -> TunedSetting:
        """Return what fresh rounds show of a setting."""
        trials = self.fresh.get(setting, ())
        claim = self.verdict.against_default.get(setting)
        rival = self.verdict.against_champion.get(setting)
        shown = self.verdict.slos[setting]
        return TunedSetting(
            setting=setting,
            rounds=len(trials),
            value=_median(trial.value for trial in trials),
            slo=shown.word if self.slos else None,
            slos=[
                self._slo(setting, condition, finding)
                for condition, finding in zip(self.slos, shown.findings, strict=False)
            ],
            against_default=None if claim is None else self._claim(claim, "default"),
            against_champion=None if rival is None else self._claim(rival, "champion"),
            is_beyond_margin=claim is not None and claim.is_beyond_margin,
            cpu_us_per_request=_median(trial.cpu_us_per_request for trial in trials),
            memory_bytes=_median(trial.memory_bytes for trial in trials),
        )

    def _claim(self, claim: SettingClaim, other: str) -> Verdict:
        estimate, judgement = claim.estimate, claim.judgement
        is_champion = claim.setting == self.verdict.finalists[0]
        return Verdict(
            metric=self.metric.key,
            candidate=show_setting(self.settings[claim.setting]),
            baseline=other,
            factors=dict(self.settings[claim.setting]),
            value=_median(trial.value for trial in self.fresh.get(claim.setting, ())),
            baseline_value=_median(trial.value for trial in self.fresh.get(claim.other, ())),
            ratio=ratio_of(estimate.centre) if estimate.count else None,
            interval=_ends(estimate.interval),
            inner_interval=_ends(estimate.inner),
            margin=math.log1p(DELTA),
            n=estimate.count,
            p=estimate.p,
            p_adjusted=claim.p_adjusted,
            alpha=ALPHA_OF_A_LOOK,
            method=estimate.method,
            spread=estimate.spread,
            family="primary" if is_champion else "secondary",
            word=judgement.word,
            reason=judgement.reason,
            more_rounds=judgement.more_rounds,
        )

    def _slo(self, setting: int, condition: Condition, finding: SloFinding) -> Verdict:
        """Return the word of an SLO, with the interval of its number."""
        return Verdict(
            metric=condition.label,
            condition=condition.text or str(condition),
            op=condition.op,
            unit=condition.unit,
            limit=condition.limit,
            candidate=show_setting(self.settings[setting]),
            interval=_numbers(condition, finding.interval),
            alpha=ALPHA_OF_A_LOOK,
            n=len(self.fresh.get(setting, ())),
            word=finding.word,
            reason=finding.why,
        )


def _ends(interval: Interval) -> Ends | None:
    return None if interval == UNBOUNDED else (ratio_of(interval[0]), ratio_of(interval[1]))


def _numbers(condition: Condition, excesses: Interval) -> Ends | None:
    """Return the ends of an SLO's number, the lower one first; None for one that is not known."""
    low, high = (_number(condition, end) for end in excesses)
    ends = (low, high) if condition.wants_little else (high, low)
    return None if ends == (None, None) else ends


def _number(condition: Condition, excess: float) -> float | None:
    # Of a share of attempts, an excess of −∞ is that of none or of all.
    is_known = math.isfinite(excess) or (condition.unit == "%" and excess < 0)
    return value_at(condition, excess) if is_known else None


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
