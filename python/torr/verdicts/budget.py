"""Budgets of functions: conditions on the rounds of a measurement, judged with their uncertainty.

A budget is held or broken where the 90 % interval of its number (exact signed ranks of the rounds
against the limit) lies wholly on one side of the limit; else it is not shown, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

import msgspec

from torr.errors import UsageError
from torr.messages.message import Message, message
from torr.model.condition import Condition
from torr.results.verdict import Verdict
from torr.stats import estimate
from torr.stats.histogram import needed
from torr.stats.metric import ERROR_RATE, OK_PER_S, Metric
from torr.verdicts import few_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from torr.results.functions import MachineSpeed
    from torr.results.level import Level
    from torr.results.verdict import ConditionWord

    Word = tuple[ConditionWord, Message | None]

Range = tuple[float, float] | None

_METRICS = ("ok/s", "response", "errors", "success")
SCALES = (None, "machine")
_LEAST_ROUNDS = 5
_HINT = 'write ops=">10k/s", p50="<0.1ms", p99="<1ms", errors="<1%", scale="machine"'


@dataclass(frozen=True, slots=True)
class Budget:
    """One limit; with `is_scaled` it is that of a machine of speed 1.0."""

    condition: Condition
    is_scaled: bool = False

    @classmethod
    def all_of(cls, marks: Mapping[str, Any]) -> tuple[Self, ...]:
        """Read a marker's keywords; raises UsageError that says which cannot be read."""
        scale = marks.get("scale")
        if scale not in SCALES:
            raise UsageError(f"scale={scale!r} is not a scale", _HINT)
        limits = {name: text for name, text in marks.items() if name != "scale"}
        if not limits:
            raise UsageError("the budget has no limit", _HINT)
        return tuple(
            cls(_condition(name, text), scale == "machine") for name, text in limits.items()
        )

    def judge(self, levels: Sequence[Level], speed: MachineSpeed) -> Verdict:
        """Judge the trials of one measurement."""
        condition = self._scaled(speed.median)
        metric = _metric_of(condition)
        known = [value for value in map(metric.read, levels) if value is not None]
        unknown = Verdict(
            candidate=levels[0].candidate or "",
            factors=levels[0].factors,
            metric=metric.key,
            condition=self.condition.text,
            limit=condition.limit,
            scaled_by=speed.median if self.is_scaled else None,
            value=median(known) if known else None,
            n=len(known),
            word="not shown",
            reason=_why_no_number(condition, levels),
        )
        if not known:
            return unknown
        interval = estimate.interval_of_rounds(known, condition.limit, is_share=metric.is_share)
        ends = dict.fromkeys((speed.median, speed.least, speed.most)) if self.is_scaled else (1.0,)
        words = [_judged(self._scaled(end), levels, interval, len(known)) for end in ends]
        word, why = words[0]
        if any(other != word for other, _ in words):
            word, why = (
                "not shown",
                message(
                    "budget.within_speed",
                    "the limit lies within the uncertainty of this machine's speed",
                ),
            )
        return msgspec.structs.replace(unknown, interval=interval, word=word, reason=why)

    def _scaled(self, speed: float) -> Condition:
        """The limit on a machine of some speed: rates rise with it, and times fall."""
        if not self.is_scaled or self.condition.unit == "%":
            return self.condition
        factor = speed if self.condition.unit == "/s" else 1 / speed
        return replace(self.condition, limit=self.condition.limit * factor)


def _condition(name: str, text: object) -> Condition:
    if not isinstance(text, str):
        raise UsageError(f"{name}={text!r} is not a text", _HINT)
    metric = "ok/s" if name == "ops" else name.replace("_", " ")
    limit = text.strip().removesuffix("/s") if name == "ops" else text
    try:
        found = Condition.parse(f"{metric} {limit}")
    except UsageError as error:
        raise UsageError(f"{name}={text!r}: {error.message}", _HINT) from error
    is_of_class = found.unit == "%" and found.stat is not None
    if is_of_class or found.is_of_streams or found.metric not in _METRICS:
        raise UsageError(f"{name}={text!r} is not a budget of a function", _HINT)
    return replace(found, text=f"{name} {' '.join(text.split())}")


def _metric_of(condition: Condition) -> Metric:
    if condition.metric == "ok/s":
        return Metric(OK_PER_S)
    if condition.unit == "%":
        return Metric(ERROR_RATE if condition.metric == "errors" else "success_rate")
    return Metric(f"response_ms.{str(condition.stat).replace('.', '_')}")


def _why_no_number(condition: Condition, levels: Sequence[Level]) -> Message:
    if condition.stat is None or not condition.stat.startswith("p"):
        return message("budget.no_number", "no number")
    return message(
        "budget.few_operations",
        "{stat} needs {needed:,} measured times in a round, there are {measured:,}",
        stat=condition.stat,
        needed=needed(float(condition.stat[1:].replace("_", ".")) / 100),
        measured=max(level.latency.response.n for level in levels),
    )


def _why_no_interval(count: int) -> Message:
    if count >= _LEAST_ROUNDS:
        return message("budget.no_end", "the interval has no end")
    return message(
        "budget.few_rounds",
        "at least {least} rounds are needed; rounds measured: {rounds}",
        rounds=count,
        least=_LEAST_ROUNDS,
    )


def _word(condition: Condition, interval: Range, count: int) -> Word:
    if interval is None:
        return "not shown", _why_no_interval(count)
    low, high = interval
    limit = condition.limit
    is_below, is_above = high < limit, low > limit
    if condition.op in ("<=", ">="):
        is_below, is_above = high <= limit, low >= limit
    held, broken = (is_below, is_above) if condition.wants_little else (is_above, is_below)
    if held or broken:
        return ("held" if held else "broken"), None
    return "not shown", message(
        "budget.within_interval", "the limit lies within the interval of the rounds"
    )


def _judged(condition: Condition, levels: Sequence[Level], interval: Range, count: int) -> Word:
    word, why = _word(condition, interval, count)
    return (word, why) if word == "not shown" else _weakened(condition, levels, (word, interval))


def _weakened(
    condition: Condition, levels: Sequence[Level], found: tuple[ConditionWord, Range]
) -> Word:
    """A word that may be more than what was measured can say, and why it is less then."""
    word, interval = found
    if condition.unit == "%":
        return _of_share(condition, levels, word)
    batch = max((level.micro.batch for level in levels if level.micro), default=1)
    if batch == 1 or condition.unit != "ms" or condition.stat == "mean":
        return word, None
    # An operation took no longer than its whole batch: a percentile of operations is at most that
    # of whole batches, and nothing says more of it.
    if word == "held" and condition.wants_little and interval is not None:
        whole = (batch * interval[0], batch * interval[1])
        if _word(condition, whole, len(levels))[0] == "held":
            return word, None
    return "not shown", message(
        "budget.batches",
        "timed in batches of {batch:,}, which hide the times of single operations",
        batch=batch,
    )


def _of_share(condition: Condition, levels: Sequence[Level], word: ConditionWord) -> Word:
    """Few errors are shown by many operations."""
    attempts = sum(level.counts.attempted for level in levels)
    needed = few_errors.attempts_needed(condition)
    is_shown = needed is not None and attempts >= needed
    if is_shown or not few_errors.claimed(condition, word):
        return word, None
    return "not shown", _too_few(attempts, needed)


def _too_few(operations: int, needed: int | None) -> Message:
    if needed is None:
        return message(
            "budget.never_none",
            "{operations:,} operations are too few: no number of operations shows that"
            " there are no errors",
            operations=operations,
        )
    return message(
        "budget.few_for_share",
        "{operations:,} operations are too few: {needed:,} are needed",
        operations=operations,
        needed=needed,
    )
