"""The sentences of a tuning: the recommended setting, its claim, its SLOs, and its equals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.say import chain, join, say, say_count
from torr.report.text.comparison_clauses import WORDS
from torr.stats.estimate import ratio_of
from torr.stats.signed_rank import UNBOUNDED
from torr.verdicts.slo_excess import value_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition
    from torr.stats.metric import Metric
    from torr.verdicts.tuning import SettingClaim, TuneVerdict


@dataclass(frozen=True, slots=True)
class TuningWords:
    """What the sentences call settings, by number; the primary metric; the SLOs of the file."""

    settings: Sequence[str]
    metric: Metric
    slos: Sequence[Condition]


def sentence(verdict: TuneVerdict | None, words: TuningWords) -> str:
    """Return what a tuning recommends, and why."""
    if verdict is None:
        return say("No setting but the default could be measured: keep the default.")
    if verdict.recommended is None:
        return _keep_default(verdict, words)
    setting = verdict.recommended
    claim = verdict.against_default.get(setting)
    parts = [
        _unclaimed(setting, words) if claim is None else _claim(claim, words),
        counted(verdict.rounds, "fresh round"),
        _slos(verdict, setting, words),
    ]
    text = say("{claim}.", claim=chain(", ", parts))
    return chain(" ", [_passed_over(verdict, words), text, _tied(verdict)])


def _claim(claim: SettingClaim, words: TuningWords) -> str:
    """Return the word of a setting against the default, with its interval."""
    name, word = words.settings[claim.setting], claim.judgement.word
    values = {"name": name, "amount": _amount(claim), "span": _span(claim)}
    if word in ("better", "worse"):
        values["word"] = _word(claim, words)
        if claim.is_beyond_margin:
            return say(
                "{name} is at least 3 % {word} than the default: {amount} ({span})", **values
            )
        return say("{name} is {word} than the default by {amount} ({span})", **values)
    if word == "same":
        return say("{name} and the default are the same ({span})", **values)
    return say("{name} is not shown to differ from the default ({span})", **values)


def _unclaimed(setting: int, words: TuningWords) -> str:
    name = words.settings[setting]
    return say("{name} is not compared with the default, which could not be measured", name=name)


def _word(claim: SettingClaim, words: TuningWords) -> str:
    printed = WORDS[words.metric.word(claim.judgement.word)]
    if words.metric.is_rate:
        return printed
    return say("{word} by {metric}", word=printed, metric=words.metric.label)


def _amount(claim: SettingClaim) -> str:
    """Return how far from 1 the ratio is, in percent of the default."""
    ratio = ratio_of(claim.estimate.centre)
    return "∞" if ratio is None else f"{100 * abs(ratio - 1):.1f} %"


def _span(claim: SettingClaim) -> str:
    """Return the interval of the change in percent, with signs where it has both."""
    if claim.estimate.interval == UNBOUNDED:
        return say("no interval")
    low, high = (ratio_of(end) for end in claim.estimate.interval)
    if low is None or high is None:
        return say("no interval")
    ends = [100 * (end - 1) for end in (low, high)]
    if ends[0] < 0 < ends[1]:
        shown = [f"{end:+.1f}".replace("-", "−") for end in ends]
        return say("{low} to {high} %", low=shown[0], high=shown[1])
    near, far = sorted(map(abs, ends))
    return f"{near:.1f}–{far:.1f} %"


def _slos(verdict: TuneVerdict, setting: int, words: TuningWords) -> str:
    """Return that the SLOs are shown, with the bound of each number; nothing without SLOs."""
    bounds = [
        _bound(condition, interval)
        for condition, interval in zip(words.slos, verdict.slos[setting].intervals, strict=True)
    ]
    if not bounds:
        return ""
    return say_count(
        len(bounds), "SLO shown ({bounds})", "SLOs shown ({bounds})", bounds=join(bounds)
    )


def _bound(condition: Condition, interval: tuple[float, float]) -> str:
    """Return the value that a number is shown not to exceed, or to reach: `p95 ≤ 471 ms`."""
    sign = "≤" if condition.wants_little else "≥"
    return f"{condition.label} {sign} {condition.show(value_at(condition, interval[1]))}"


def _passed_over(verdict: TuneVerdict, words: TuningWords) -> str:
    """Return why finalists before the recommended one are not recommended."""
    before = verdict.finalists[: verdict.finalists.index(verdict.recommended or 0)]
    names = {
        status: join([words.settings[x] for x in before if verdict.slos[x].status == status])
        for status in ("broken", "undecided")
    }
    parts = [
        say("An SLO is broken by {names}.", names=names["broken"]) if names["broken"] else "",
        say("An SLO is not shown for {names}.", names=names["undecided"])
        if names["undecided"]
        else "",
    ]
    return chain(" ", parts)


def _tied(verdict: TuneVerdict) -> str:
    if not verdict.tied:
        return ""
    return say_count(
        len(verdict.tied),
        "{n} finalist cannot be told apart from it: take the cheaper one.",
        "{n} finalists cannot be told apart from it: take the cheapest.",
    )


def _keep_default(verdict: TuneVerdict, words: TuningWords) -> str:
    """Return that the default stays: no finalist has its SLOs shown, or those are slower."""
    rounds = counted(verdict.rounds, "fresh round")
    shown = [x for x in verdict.finalists if verdict.slos[x].status == "shown"]
    if not shown:
        return say(
            "No finalist is shown to keep the SLOs in {rounds}: keep the default.", rounds=rounds
        )
    claim = _claim(verdict.against_default[shown[0]], words)
    return say("{claim}, {rounds}: keep the default.", claim=claim, rounds=rounds)
