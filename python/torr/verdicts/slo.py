"""Judges a condition at one level: held, broken or not shown.

A condition is not shown where its number is missing, is only a lower bound, or comes from too few
attempts. Where a number is missing because no request succeeded, the condition is broken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torr import units
from torr.messages.message import Message, message, message_count
from torr.results.base import Statistics
from torr.results.level import (
    AttemptCounts,
    Level,
    MeasuredPart,
    rate_of,
    time_of,
    unreported_in,
)
from torr.results.stream import StreamStatistics
from torr.results.verdict import ConditionWord, Verdict
from torr.verdicts import few_errors

if TYPE_CHECKING:
    from torr.model.condition import Condition

OWN_REASONS = ("connect.no_descriptor", "connect.no_port", "connect.no_buffer")

_OWN_FAILURES = "slo.own_failures"
_TOO_FEW = ("slo.few_answers", "slo.too_few")


def judge(condition: Condition, level: MeasuredPart, attempts: int | None = None) -> Verdict:
    """Judge one level, interval or named request.

    `attempts` is the number of ended attempts where it is larger than the level's own, as when the
    rounds of one level are judged together.
    """
    if isinstance(level, Level) and level.is_limited:
        return _not_shown(
            condition, None, message("slo.generator_limit", "the generator was the limit")
        )
    part = part_of(level, condition.name)
    if part is None:
        reason = message(
            "slo.no_request", "no request is named {name!r}", name=condition.name or ""
        )
        return _not_shown(condition, None, reason)
    contended = isinstance(level, Level) and level.is_contended
    verdict = _of_part(condition, part, attempts, contended=contended)
    if verdict.value is None and part.counts.ok == 0:
        return _verdict(
            condition, None, "broken", message("slo.no_success", "no request succeeded")
        )
    return verdict


def has_too_few_answers(verdict: Verdict) -> bool:
    """Return whether a condition is not shown because it needs more responses or attempts."""
    return verdict.reason is not None and verdict.reason.code in _TOO_FEW


def is_excused(verdict: Verdict) -> bool:
    """Return whether a share is not shown because only the generator's failures break it."""
    return verdict.reason is not None and verdict.reason.code == _OWN_FAILURES


@dataclass(frozen=True, slots=True)
class FewAnswers:
    """How many responses or attempts a condition needs, and how many there were."""

    needed: int
    seen: int


def few_of(verdict: Verdict) -> FewAnswers | None:
    """Return how many more a condition needs; None if it lacks none."""
    if verdict.reason is None or not has_too_few_answers(verdict):
        return None
    values = verdict.reason.values
    # Results of earlier versions do not have the number of attempts.
    return FewAnswers(values["needed"], values.get("answers", 0))


def _of_part(
    condition: Condition, part: MeasuredPart, attempts: int | None, *, contended: bool
) -> Verdict:
    if condition.metric == "goodput":
        return _of_goodput(condition, part)
    if condition.unit == "%":
        return _of_share(condition, part, attempts)
    if condition.unit == "/s":
        return _of_rate(condition, part, contended=contended)
    if condition.metric == "failures":
        return _of_failures(condition, part)
    return _of_time(condition, part)


def _of_time(condition: Condition, part: MeasuredPart) -> Verdict:
    stats = stats_of(part, condition.metric)
    value = _value(stats, condition)
    dropped = part.counts.dropped
    if condition.metric == "response" and dropped and condition.wants_little:
        reason = message_count(
            "slo.never_sent",
            dropped,
            "{n:,} due request never sent: response times are lower bounds",
            "{n:,} due requests never sent: response times are lower bounds",
        )
        return _verdict(condition, value, "broken", reason)
    if value is None:
        return _not_shown(condition, None, _why_no_time(condition, stats.n))
    at_least = _is_lower_bound(condition, part)
    verdict = _of_number(condition, value, at_least=at_least)
    if at_least and verdict.word == "not shown":
        reason = message(
            "slo.at_least",
            "{metric} is only known to be at least {value}",
            metric=condition.label,
            value=units.show_ms(value),
        )
        return _not_shown(condition, value, reason)
    return replace(verdict, reason=_of_ok_answers_only(part.counts))


def _verdict(
    condition: Condition, value: float | None, word: ConditionWord, reason: Message | None = None
) -> Verdict:
    """Return a verdict; `reason` says why the word is what it is, or what weakens it."""
    return Verdict(
        condition=condition.text or str(condition),
        metric=condition.label,
        op=condition.op,
        unit=condition.unit,
        value=value,
        limit=condition.limit,
        word=word,
        reason=reason,
    )


def _not_shown(condition: Condition, value: float | None, reason: Message) -> Verdict:
    return _verdict(condition, value, "not shown", reason)


def is_bound(condition: Condition, level: Level) -> bool:
    """Return whether the number of a level is only known not to be lower."""
    part = part_of(level, condition.name)
    if condition.unit == "/s":
        return level.is_contended or bool(part and unreported_in(part, _rate_key(condition)))
    return condition.unit == "ms" and part is not None and _is_lower_bound(condition, part)


def ended(condition: Condition, level: Level) -> int:
    """Return how many attempts ended, of those that the condition is about."""
    part = part_of(level, condition.name)
    return 0 if part is None else part.counts.ended


def _is_lower_bound(condition: Condition, part: MeasuredPart) -> bool:
    return stats_of(part, condition.metric).is_lower_bound(condition.stat or "") or (
        condition.metric == "response" and part.counts.dropped > 0
    )


def _value(stats: Statistics, condition: Condition) -> float | None:
    return None if condition.stat is None else stats.value(condition.stat)


def _why_no_time(condition: Condition, answers: int) -> Message:
    if not answers or condition.stat is None or not condition.stat.startswith("p"):
        return message("slo.no_time", "no {metric} time was measured", metric=condition.metric)
    needed = answers_needed(condition.stat)
    return message(
        "slo.few_answers",
        "{stat} needs {needed:,} answers, there were {answers:,}",
        stat=condition.stat,
        needed=needed,
        answers=answers,
    )


def answers_needed(stat: str) -> int:
    """Return from how many values on a statistic is shown: 10 / (1 − p) for a percentile p."""
    if not stat.startswith("p"):
        return 1
    return math.ceil(10 / (1 - float(stat[1:].replace("_", ".")) / 100) - 1e-6)


def _of_goodput(condition: Condition, part: MeasuredPart) -> Verdict:
    """Judge the share of attempts that met every SLO of latency; an error met none."""
    stream = part.stream or StreamStatistics()
    if stream.goodput_rate is None:
        default = message("slo.no_latency_slo", "no SLO of latency defines a good response")
        return _not_shown(condition, None, stream.goodput_missing or default)
    return _of_number(condition, stream.goodput_rate)


def _of_share(condition: Condition, part: MeasuredPart, attempts: int | None) -> Verdict:
    """Judge a share of attempts, as percent: few errors are shown by many attempts."""
    ended = part.counts.ended
    if not ended:
        return _not_shown(condition, None, message("slo.none_ended", "no attempt ended"))
    failed = part.counts.failed_of(condition.stat)
    error_rate = 100 * failed / ended
    value = 100 - error_rate if condition.metric == "success" else error_rate
    verdict = _of_number(condition, value)
    if verdict.word == "broken" and _is_excused(condition, part, failed, ended):
        return _not_shown(condition, value, _own_text(part))
    attempts = ended if attempts is None else attempts
    needed = few_errors.attempts_needed(condition)
    is_shown = needed is not None and attempts >= needed
    if is_shown or not few_errors.claimed(condition, verdict.word):
        return verdict
    return _not_shown(condition, value, too_few(attempts, failed, needed))


def _of_failures(condition: Condition, part: MeasuredPart) -> Verdict:
    """Judge the number of failed attempts, of one class or of all."""
    return _of_number(condition, float(part.counts.failed_of(condition.stat)))


def _is_excused(condition: Condition, part: MeasuredPart, failed: int, ended: int) -> bool:
    """Return whether the condition would hold without failures of the generator's machine."""
    own = sum(_own_failures(part).values())
    if not own or condition.stat not in (None, "connect"):
        return False
    error_rate = 100 * (failed - own) / max(1, ended - own)
    value = 100 - error_rate if condition.metric == "success" else error_rate
    return _of_number(condition, value).word == "held"


def _of_rate(condition: Condition, part: MeasuredPart, *, contended: bool) -> Verdict:
    value = rate_of(part, _rate_key(condition))
    if value is None:
        reason = message("slo.no_rate", "no {metric} was measured", metric=condition.metric)
        return _not_shown(condition, None, reason)
    why = _why_at_least(part, _rate_key(condition), contended=contended)
    return replace(_of_number(condition, value, at_least=why is not None), reason=why)


def _rate_key(condition: Condition) -> str:
    return condition.metric.replace("/s", "_per_s")


def _why_at_least(part: MeasuredPart, key: str, *, contended: bool) -> Message | None:
    """Return why a rate is a lower bound; None if it is not."""
    if contended:
        return message(
            "slo.shared_machine", "client and target share this machine: the rate is a lower bound"
        )
    unreported = unreported_in(part, key)
    if not unreported:
        return None
    return message_count(
        "slo.tokens_unreported",
        unreported,
        "{n:,} response reported no tokens: the rate is a lower bound",
        "{n:,} responses reported no tokens: the rate is a lower bound",
    )


def _of_number(condition: Condition, value: float, *, at_least: bool = False) -> Verdict:
    """Compare with the limit; a lower bound can break `<` and hold `>`, nothing else is shown."""
    is_true = condition.is_met_by(value)
    if at_least and is_true == condition.wants_little:
        return _verdict(condition, value, "not shown")
    return _verdict(condition, value, "held" if is_true else "broken")


def part_of(level: MeasuredPart, name: str | None) -> MeasuredPart | None:
    """Return the level itself, or its request with the name."""
    if name is None:
        return level
    return level.request(name) if isinstance(level, Level) else None


def stats_of(part: MeasuredPart, metric: str) -> Statistics:
    """Return the statistics of a time; all values are None where it was not measured."""
    return time_of(part, f"{metric}_ms") or Statistics(n=0)


def _of_ok_answers_only(counts: AttemptCounts) -> Message | None:
    """Return the note that times are of ok responses only, where more than 1 % failed."""
    if counts.failed * 100 <= counts.ended:
        return None
    share = units.show_percent(100 * counts.failed / counts.ended)
    return message("slo.ok_only", "of the ok responses only: {share} failed", share=share)


def _own_failures(part: MeasuredPart) -> dict[str, int]:
    """Return failures for which the generator's machine lacked resources, by reason."""
    return {reason: part.reasons[reason] for reason in OWN_REASONS if reason in part.reasons}


def _own_text(part: MeasuredPart) -> Message:
    own = _own_failures(part)
    return message(
        "slo.own_failures",
        "{n:,} failures are the generator's own: {reasons}",
        n=sum(own.values()),
        reasons=", ".join(own),
    )


def too_few(attempts: int, failed: int, needed: int | None) -> Message:
    """Return that attempts are too few to show a share; `needed` is None where none can."""
    errors = _errors_in(attempts, failed)
    if needed is None:
        return message(
            "slo.never_none",
            "{seen} can show an error rate of {most} or less, but never 0",
            seen=errors,
            most=units.show_percent(few_errors.RULE_OF_THREE / attempts),
        )
    return message(
        "slo.too_few",
        "{seen} is not enough: {needed:,} are needed",
        seen=errors,
        needed=needed,
        answers=attempts,
    )


def _errors_in(attempts: int, failed: int) -> Message:
    total = message_count("count.attempts", attempts, "{n:,} attempt", "{n:,} attempts")
    if not failed:
        return message("slo.no_error_in", "no error in {attempts}", attempts=total)
    return message_count(
        "slo.errors_in",
        failed,
        "{n:,} error in {attempts}",
        "{n:,} errors in {attempts}",
        attempts=total,
    )
