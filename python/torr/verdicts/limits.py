"""Whether a comparison lies beyond a limit: `--fail-if 'p99 > +10%'`.

A limit is broken only where that is certain: the interval of 90 % lies wholly beyond it, so that
either side of it has an error of 5 %, or less where a comparison left less for one look. Where the
interval reaches across, or there is none, the limit is not shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from torr.messages.message import Message, message
from torr.results.verdict import Verdict
from torr.stats.estimate import ALPHA
from torr.stats.metric import Metric
from torr.verdicts.judgement import LEAST_ROUNDS

if TYPE_CHECKING:
    from torr.model.change import Change
    from torr.results.base import Factors
    from torr.results.verdict import ConditionWord


def judge(change: Change, verdict: Verdict) -> Verdict:
    """Return what one limit of change is worth for one verdict of its metric.

    `limit`, `value` and `interval` are changes in percent of the baseline, or in points.
    """
    centre = verdict.difference if verdict.ratio is None else verdict.ratio
    entry = Verdict(
        condition=change.text,
        candidate=verdict.candidate,
        baseline=verdict.baseline,
        factors=verdict.factors,
        concurrency=verdict.concurrency,
        rate=verdict.rate,
        metric=change.key,
        op=change.op,
        limit=change.limit,
        value=_change(change, centre),
        n=verdict.n or 0,
        word="not shown",
    )
    if verdict.obstacle:
        return replace(entry, reason=verdict.obstacle)
    trials = verdict.n or 0
    if trials < LEAST_ROUNDS:
        reason = message(
            "limit.few_trials",
            "at least {least} trials of each side are needed, there are {trials}",
            least=LEAST_ROUNDS,
            trials=trials,
        )
        return replace(entry, reason=reason)
    if verdict.inner_interval is None:
        return replace(entry, reason=message("limit.unbounded", "its interval has no bound"))
    low, high = (_change(change, end) for end in verdict.inner_interval)
    word, reason = _word(change, low, high), _reason(change, low, high, verdict.alpha)
    return replace(entry, interval=(low, high), word=word, reason=reason)


def too_rare(
    change: Change,
    names: tuple[str, str],
    concurrency: int,
    factors: Factors | None = None,
    *,
    is_of_function: bool = False,
) -> Verdict:
    """Return what a limit is worth where trials have too few for a percentile: not shown.

    `names` are those of the baseline and the candidate. Trials of functions have operations.
    """
    baseline, candidate = names
    return Verdict(
        condition=change.text,
        candidate=candidate,
        baseline=baseline,
        factors=factors or {},
        concurrency=concurrency,
        metric=change.key,
        op=change.op,
        limit=change.limit,
        n=0,
        word="not shown",
        reason=_too_few(Metric(change.key, change.name).label, is_of_function=is_of_function),
    )


def _too_few(metric: str, *, is_of_function: bool) -> Message:
    if is_of_function:
        return message(
            "limit.few_operations", "too few operations in a trial for {metric}", metric=metric
        )
    return message("limit.few_answers", "too few responses in a trial for {metric}", metric=metric)


def _word(change: Change, low: float | None, high: float | None) -> ConditionWord:
    """Ends that are None have no bound."""
    near, far = (high, low) if change.wants_little else (low, high)
    if near is not None and change.is_met_by(near):
        return "broken"
    return "held" if far is not None and not change.is_met_by(far) else "not shown"


def _reason(change: Change, low: float | None, high: float | None, alpha: float | None) -> Message:
    none = message("limit.no_bound", "no bound")
    return message(
        "limit.interval",
        "the {share:.3g} % interval is {low} to {high}",
        share=100 * (1 - 2 * (ALPHA if alpha is None else alpha)),
        low=none if low is None else change.show_change(low),
        high=none if high is None else change.show_change(high),
    )


def _change(change: Change, value: float | None) -> float | None:
    if value is None or change.is_of_share:
        return value
    return 100 * (value - 1)
