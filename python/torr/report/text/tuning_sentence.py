"""The sentences of a tuning: the recommended setting, its claim, its SLOs, and its equals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.say import Text, chain, join, say, say_count
from torr.model.condition import Condition
from torr.model.settings import settings_of
from torr.report.text.comparison_clauses import WORDS
from torr.report.text.verdict_words import coverage
from torr.stats.metric import Metric
from torr.tuning.trials import LIMITED
from torr.units import show_setting
from torr.verdicts.error_rates import ERROR_RATES_APART

if TYPE_CHECKING:
    from torr.results.result import RunResult
    from torr.results.tuning import TunedSetting, TuningOutcome
    from torr.results.verdict import Verdict


def verdict(result: RunResult) -> Text:
    """Return what a tuning recommends, and why; how far it is, if it is not complete."""
    outcome = result.tuning
    if not outcome or not (outcome.rounds or outcome.is_complete):
        return _unfinished(result)
    if outcome.default is None and not outcome.measured:
        if {out.problem for out in outcome.out} == {LIMITED}:
            return say("No setting but the default could be measured: the generator was the limit.")
        return say("No setting but the default could be measured: keep the default.")
    words = _Words(result, outcome)
    return words.sentence()


def _unfinished(result: RunResult) -> Text:
    trials = counted(len(result.levels), "trial")
    if result.tuning and result.tuning.finalists:
        return say("No verdict yet, after {trials}: the fresh rounds have begun.", trials=trials)
    return say("No verdict yet, after {trials}: the search is not over.", trials=trials)


class _Words:
    """The sentences about an outcome with at least one look."""

    def __init__(self, result: RunResult, outcome: TuningOutcome) -> None:
        self._outcome = outcome
        self._settings = settings_of(result.experiment.parameters)
        self._metric = Metric(result.experiment.primary or "ok_per_s")
        self._rounds = counted(outcome.rounds, "fresh round")

    def sentence(self) -> Text:
        outcome = self._outcome
        chosen = next((x for x in outcome.measured if x.setting == outcome.recommended), None)
        if chosen is None:
            return self._keep_default()
        claim = chosen.against_default
        parts = [
            self._unclaimed(chosen) if claim is None else self._claim(chosen, claim),
            self._rounds,
            _slos(chosen),
        ]
        text = say("{claim}.", claim=chain(", ", parts))
        return chain(" ", [self._passed_over(chosen), text, self._advice(claim), self._tied()])

    def _advice(self, claim: Verdict | None) -> str:
        """Return why a setting is recommended that is not shown to be better than the default."""
        if claim is None or claim.word == "better":
            return ""
        default = self._outcome.default
        if default is not None and default.slo == "broken":
            return say("It is recommended since the default breaks an SLO.")
        if default is not None and default.slo == "not shown":
            return say("It is recommended since the default is not shown to keep the SLOs.")
        if claim.word == "same":
            return say("Take the cheaper one.")
        return say("Keep the default, unless the setting is cheaper.")

    def _name(self, setting: TunedSetting) -> str:
        return show_setting(self._settings[setting.setting])

    def _claim(self, setting: TunedSetting, claim: Verdict) -> Text:
        """Return the word of a setting against the default, with its interval."""
        values = {"name": self._name(setting), "amount": _amount(claim), "span": _span(claim)}
        if claim.word in ("better", "worse"):
            values["word"] = self._word(claim)
            if setting.is_beyond_margin:
                return say(
                    "{name} is at least 3 % {word} than the default: {amount} ({span})", **values
                )
            return say("{name} is {word} than the default by {amount} ({span})", **values)
        if claim.word == "same":
            return say("{name} and the default are the same ({span})", **values)
        why = claim.reason
        if why is not None and why.code == ERROR_RATES_APART:
            return say("{name} is not comparable with the default ({why})", why=why, **values)
        return say("{name} is not shown to differ from the default ({span})", **values)

    def _unclaimed(self, setting: TunedSetting) -> Text:
        name = self._name(setting)
        return say(
            "{name} is not compared with the default, which could not be measured", name=name
        )

    def _word(self, claim: Verdict) -> str:
        printed = WORDS[self._metric.word(claim.word or "")]
        if self._metric.is_rate:
            return printed
        return say("{word} by {metric}", word=printed, metric=self._metric.label)

    def _passed_over(self, chosen: TunedSetting) -> str:
        """Return why finalists before the recommended one are not recommended."""
        before = self._outcome.measured[: self._outcome.measured.index(chosen)]
        names = {
            word: join([self._name(each) for each in before if each.slo == word])
            for word in ("broken", "not shown")
        }
        parts = [
            say("An SLO is broken by {names}.", names=names["broken"]) if names["broken"] else "",
            say("An SLO is not shown for {names}.", names=names["not shown"])
            if names["not shown"]
            else "",
        ]
        return chain(" ", parts)

    def _tied(self) -> str:
        tied = len(self._outcome.tied)
        if not tied:
            return ""
        return say_count(
            tied,
            "{n} finalist cannot be told apart from it: take the cheaper one.",
            "{n} finalists cannot be told apart from it: take the cheapest.",
        )

    def _keep_default(self) -> Text:
        """Return that the default stays: no finalist has its SLOs shown, or those are slower."""
        if not self._outcome.measured:
            return say(
                "No finalist could be measured in {rounds}: keep the default.", rounds=self._rounds
            )
        kept = [x for x in self._outcome.measured if x.slo in (None, "held")]
        if not kept or kept[0].against_default is None:
            slos = [slo for x in self._outcome.measured for slo in x.slos if slo.reason is not None]
            if slos:
                return say(
                    "No finalist is shown to keep the SLOs in {rounds} ({why}): keep the default.",
                    rounds=self._rounds,
                    why=slos[0].reason or "",
                )
            return say(
                "No finalist is shown to keep the SLOs in {rounds}: keep the default.",
                rounds=self._rounds,
            )
        claim = self._claim(kept[0], kept[0].against_default)
        return say("{claim}, {rounds}: keep the default.", claim=claim, rounds=self._rounds)


def _amount(claim: Verdict) -> str:
    """Return how far from 1 the ratio is, in percent of the default."""
    return "∞" if claim.ratio is None else f"{100 * abs(claim.ratio - 1):.1f} %"


def _span(claim: Verdict) -> str:
    """Return the interval of the change in percent, with what it holds by."""
    low, high = claim.interval or (None, None)
    if low is None or high is None:
        return say("no interval")
    return say(
        "{coverage} interval: {ends}", coverage=coverage([claim]), ends=_percents(low - 1, high - 1)
    )


def _percents(low: float, high: float) -> str:
    ends = 100 * low, 100 * high
    if ends[0] < 0 < ends[1]:
        shown = [f"{end:+.1f}".replace("-", "−") for end in ends]
        return say("{low} to {high} %", low=shown[0], high=shown[1])
    near, far = sorted(map(abs, ends))
    return f"{near:.1f}–{far:.1f} %"


def _slos(setting: TunedSetting) -> str:
    """Return that the SLOs hold, with the bound of each number; nothing without SLOs."""
    bounds = [bound(slo) for slo in setting.slos]
    if not bounds:
        return ""
    return say_count(
        len(bounds), "SLO held ({bounds})", "SLOs held ({bounds})", bounds=join(bounds)
    )


def bound(slo: Verdict) -> str:
    """Return what is shown of a number: `p95 ≤ 471 ms` if the SLO holds, `p95 ≥ 512 ms` if not.

    Without the end that its word needs, the reason is returned.
    """
    condition = Condition.parse(slo.condition or "")
    low, high = slo.interval or (None, None)
    if slo.word == "not shown":
        if low is None or high is None:
            return slo.reason or "–"
        return f"{condition.label} {condition.show(low)}–{condition.show(high)}"
    is_most = condition.wants_little == (slo.word == "held")
    sign, value = ("≤", high) if is_most else ("≥", low)
    if value is None:
        return slo.reason or "–"
    return f"{condition.label} {sign} {condition.show(value)}"
