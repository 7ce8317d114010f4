"""Budgets of functions: conditions on the rounds of a measurement, judged with their uncertainty.

A budget is held or broken where the 90 % interval of its number (exact signed ranks of the rounds
against the limit) lies wholly on one side of the limit; else it cannot be told, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.model.condition import Condition
from torr.stats import estimate
from torr.stats.estimate import ratio_of
from torr.stats.judgement import ALPHA
from torr.stats.metric import ERROR_RATE, OK_PER_S, Metric
from torr.stats.signed_rank import UNBOUNDED

if TYPE_CHECKING:
    from typing_extensions import Self

    from torr.micro.machine import Speed

Level = Mapping[str, Any]
Json = dict[str, Any]

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
            raise UsageError(f"scale={scale!r} is no scale", _HINT)
        limits = {name: text for name, text in marks.items() if name != "scale"}
        if not limits:
            raise UsageError("a budget without a limit", _HINT)
        return tuple(
            cls(_condition(name, text), scale == "machine") for name, text in limits.items()
        )

    def judge(self, levels: Sequence[Level], speed: Speed) -> Json:
        """Judge the trials of one measurement, as result.json has verdicts of SLOs."""
        condition = self._scaled(speed)
        metric = _metric_of(condition)
        known = [value for value in map(metric.read, levels) if value is not None]
        head = {
            "metric": metric.key,
            "text": self.condition.text,
            "limit": condition.limit,
            "scaled_by": speed.median if self.is_scaled else None,
            "value": median(known) if known else None,
            "n": len(known),
        }
        if not known:
            reason = f"too few operations for {condition.stat}" if condition.stat else "no number"
            return {**head, "interval": None, "word": "not shown", "reason": reason}
        interval = _interval(known, condition.limit, is_share=metric.is_share)
        word, why = _word(condition, interval, len(known))
        return {**head, "interval": interval, "word": word, "reason": why}

    def _scaled(self, speed: Speed) -> Condition:
        """The limit on this machine: rates rise with its speed, and times fall."""
        if not self.is_scaled or self.condition.unit == "%":
            return self.condition
        factor = speed.median if self.condition.unit == "/s" else 1 / speed.median
        return replace(self.condition, limit=self.condition.limit * factor)


def _condition(name: str, text: object) -> Condition:
    if not isinstance(text, str):
        raise UsageError(f"{name}={text!r} is no text", _HINT)
    metric = "ok/s" if name == "ops" else name.replace("_", " ")
    limit = text.strip().removesuffix("/s") if name == "ops" else text
    try:
        found = Condition.parse(f"{metric} {limit}")
    except UsageError as error:
        raise UsageError(f"{name}={text!r}: {error.message}", _HINT) from error
    if found.is_of_streams or found.metric not in ("ok/s", "response", "errors", "success"):
        raise UsageError(f"{name}={text!r} is no budget of a function", _HINT)
    return replace(found, text=f"{name} {' '.join(text.split())}")


def _metric_of(condition: Condition) -> Metric:
    if condition.metric == "ok/s":
        return Metric(OK_PER_S)
    if condition.unit == "%":
        return Metric(ERROR_RATE if condition.metric == "errors" else "success_rate")
    return Metric(f"response_ms.{(condition.stat or 'p95').replace('.', '_')}")


def _interval(
    values: Sequence[float], limit: float, *, is_share: bool
) -> tuple[float, float] | None:
    """The 90 % interval of what the rounds are replicates of, in their unit."""
    found = estimate.paired([limit] * len(values), values, ALPHA, is_share=is_share).inner
    if found == UNBOUNDED:
        return None
    if is_share:
        return limit + found[0], limit + found[1]
    ends = [ratio_of(end) for end in found]
    if None in ends:
        return None
    low, high = (limit * (end or 0.0) for end in ends)
    return low, high


def _word(
    condition: Condition, interval: tuple[float, float] | None, count: int
) -> tuple[str, str | None]:
    if interval is None:
        return "not shown", (
            f"{count} rounds are too few: {_LEAST_ROUNDS} are the least"
            if count < _LEAST_ROUNDS
            else "the interval has no end"
        )
    low, high = interval
    limit = condition.limit
    is_below, is_above = high < limit, low > limit
    if condition.op in ("<=", ">="):
        is_below, is_above = high <= limit, low >= limit
    held, broken = (is_below, is_above) if condition.wants_little else (is_above, is_below)
    if held or broken:
        return ("held" if held else "broken"), None
    return "not shown", "the limit lies within the interval of the rounds"
