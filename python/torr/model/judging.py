"""What a condition is worth at one level: held, broken or not shown.

`not shown` is what an honest reader says of a number that is missing, that is only a lower bound,
or that stands on too few attempts. Where no request succeeded a missing number is the target's
doing, and the condition is broken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from torr import units
from torr.model import few_errors

if TYPE_CHECKING:
    from torr.model.condition import Condition

Level = Mapping[str, Any]
Word = Literal["held", "broken", "not shown"]

OWN_REASONS = ("connect.no_descriptor", "connect.no_port", "connect.no_buffer")


@dataclass(frozen=True)
class Holds:
    """What one condition is worth at one level.

    `value` and `limit` are in the unit of the metric: milliseconds, percent, or per second.
    `reason` says why the word is what it is, or what weakens it; None when there is nothing to say.
    """

    value: float | None
    limit: float
    word: Word
    reason: str | None = None


def judge(condition: Condition, level: Level, attempts: int | None = None) -> Holds:
    """Judge one level of result.json (or one slice: the same keys).

    `attempts` is how many ended attempts stand behind the claim where that is more than the
    level's own, as when rounds of one level are judged together.
    """
    verdict = (level.get("health") or {}).get("verdict", "healthy")
    if verdict == "generator-limited":
        return Holds(None, condition.limit, "not shown", "the generator was the limit")
    part = part_of(level, condition.name)
    if part is None:
        return Holds(None, condition.limit, "not shown", f"no request is named {condition.name!r}")
    holds = _of_part(condition, part, attempts, contended=verdict == "contended")
    if holds.value is None and (part.get("counts") or {}).get("ok") == 0:
        return Holds(None, condition.limit, "broken", "no request succeeded")
    return holds


def _of_part(condition: Condition, part: Level, attempts: int | None, *, contended: bool) -> Holds:
    if condition.metric == "goodput":
        return _of_goodput(condition, part)
    if condition.unit == "%":
        return _of_share(condition, part, attempts)
    if condition.unit == "/s":
        return _of_rate(condition, part, contended=contended)
    if condition.metric == "failures":
        return _of_failures(condition, part)
    return _of_time(condition, part)


def _of_time(condition: Condition, level: Level) -> Holds:
    stats = stats_of(level, condition.metric)
    value = stats.get(_key(condition.stat))
    dropped = (level.get("counts") or {}).get("dropped", 0)
    if condition.metric == "response" and dropped and condition.wants_little:
        never = f"{units.show_count(dropped, 'due request')} never sent"
        reason = f"{never}: response times are lower bounds"
        return Holds(value, condition.limit, "broken", reason)
    if value is None:
        return Holds(None, condition.limit, "not shown", _why_no_time(condition, stats))
    at_least = _is_lower_bound(condition, level)
    holds = _of_number(condition, value, at_least=at_least)
    if at_least and holds.word == "not shown":
        reason = f"{condition.label} is only known to be at least {units.show_ms(value)}"
        return Holds(value, condition.limit, "not shown", reason)
    return Holds(value, condition.limit, holds.word, _survivors(level))


def is_bound(condition: Condition, level: Level) -> bool:
    """Return whether the number of a level is only known not to be lower."""
    if condition.unit == "/s":
        return (level.get("health") or {}).get("verdict") == "contended"
    part = part_of(level, condition.name)
    return condition.unit == "ms" and part is not None and _is_lower_bound(condition, part)


def ended(condition: Condition, level: Level) -> int:
    """Return how many attempts ended that a share of the condition is of."""
    counts = (part_of(level, condition.name) or {}).get("counts") or {}
    return int(counts.get("ok", 0) + sum((counts.get("errors") or {}).values()))


def _is_lower_bound(condition: Condition, level: Level) -> bool:
    stats = stats_of(level, condition.metric)
    dropped = (level.get("counts") or {}).get("dropped", 0)
    return _key(condition.stat) in stats.get("at_least", ()) or (
        condition.metric == "response" and bool(dropped)
    )


def _why_no_time(condition: Condition, stats: Mapping[str, Any]) -> str:
    answers = stats.get("n", 0)
    if not answers or condition.stat is None or not condition.stat.startswith("p"):
        return f"no {condition.metric} time was measured"
    # A percentile p is shown from n = 10 / (1 - p) values on.
    needed = math.ceil(10 / (1 - float(condition.stat[1:]) / 100) - 1e-6)
    return f"{condition.stat} needs {needed:,} answers, there were {answers:,}"


def _of_goodput(condition: Condition, level: Level) -> Holds:
    """The share of attempts that met every SLO of latency; an error met none."""
    stream = level.get("stream") or {}
    value = stream.get("goodput_rate")
    if value is None:
        reason = stream.get("goodput_missing") or "no SLO of latency says what is good"
        return Holds(None, condition.limit, "not shown", reason)
    return _of_number(condition, value)


def _of_share(condition: Condition, level: Level, attempts: int | None) -> Holds:
    """Judge a share of attempts, as percent: few errors are shown by many attempts."""
    counts = level.get("counts") or {}
    errors = counts.get("errors") or {}
    ended = counts.get("ok", 0) + sum(errors.values())
    if not ended:
        return Holds(None, condition.limit, "not shown", "no attempt ended")
    failed = sum(errors.values()) if condition.stat is None else errors.get(condition.stat, 0)
    error_rate = 100 * failed / ended
    value = 100 - error_rate if condition.metric == "success" else error_rate
    holds = _of_number(condition, value)
    if holds.word == "broken" and _is_excused(condition, level, failed, ended):
        return Holds(value, condition.limit, "not shown", _own_text(level))
    attempts = ended if attempts is None else attempts
    needed = few_errors.attempts_needed(condition)
    is_shown = needed is not None and attempts >= needed
    if is_shown or not few_errors.claimed(condition, holds.word):
        return holds
    return Holds(value, condition.limit, "not shown", _too_few(attempts, failed, needed))


def _of_failures(condition: Condition, level: Level) -> Holds:
    """How many attempts failed: of one class, or of all."""
    errors = (level.get("counts") or {}).get("errors") or {}
    failed = sum(errors.values()) if condition.stat is None else errors.get(condition.stat, 0)
    return _of_number(condition, float(failed))


def _is_excused(condition: Condition, level: Level, failed: int, ended: int) -> bool:
    """Whether it broke only through what the generator's own machine did not give."""
    own = sum(_own_failures(level).values())
    if not own or condition.stat not in (None, "connect"):
        return False
    error_rate = 100 * (failed - own) / max(1, ended - own)
    value = 100 - error_rate if condition.metric == "success" else error_rate
    return _of_number(condition, value).word == "held"


def _of_rate(condition: Condition, level: Level, *, contended: bool) -> Holds:
    value = _rate(level, condition.metric)
    if value is None:
        return Holds(None, condition.limit, "not shown", f"no {condition.metric} was measured")
    holds = _of_number(condition, value, at_least=contended)
    reason = None
    if contended:
        reason = "client and target share this machine: the rate is a lower bound"
    return Holds(value, condition.limit, holds.word, reason)


def _of_number(condition: Condition, value: float, *, at_least: bool = False) -> Holds:
    """Compare; a lower bound can break `<` and hold `>`, and shows nothing else."""
    true = {
        "<": value < condition.limit,
        "<=": value <= condition.limit,
        ">": value > condition.limit,
        ">=": value >= condition.limit,
    }[condition.op]
    if at_least and true == condition.wants_little:
        return Holds(value, condition.limit, "not shown")
    return Holds(value, condition.limit, "held" if true else "broken")


def part_of(level: Level, name: str | None) -> Level | None:
    """Return the level itself, or the step with the name."""
    if name is None:
        return level
    steps = level.get("steps") or ()
    return next((step for step in steps if step.get("name") == name), None)


def stats_of(level: Level, metric: str) -> Mapping[str, Any]:
    """Return the numbers of a time of a level; empty where it has none."""
    key = f"{metric}_ms"
    found = (level.get("latency") or {}).get(key) or (level.get("stream") or {}).get(key)
    return found or {}


def _key(stat: str | None) -> str:
    return (stat or "").replace(".", "_")


def _rate(level: Level, metric: str) -> float | None:
    key = metric.replace("/s", "_per_s")
    value: float | None = level.get(key, (level.get("stream") or {}).get(key))
    return value


def _survivors(level: Level) -> str | None:
    """Times are those of ok answers: say so when more than one attempt in a hundred failed."""
    counts = level.get("counts") or {}
    failed = sum((counts.get("errors") or {}).values())
    ended = counts.get("ok", 0) + failed
    if failed * 100 <= ended:
        return None
    return f"of the ok answers only: {units.show_percent(100 * failed / ended)} failed"


def _own_failures(level: Level) -> dict[str, int]:
    """Failures of dials for which the generator's machine had nothing left, by reason."""
    reasons = level.get("reasons") or {}
    return {reason: reasons[reason] for reason in OWN_REASONS if reason in reasons}


def _own_text(level: Level) -> str:
    own = _own_failures(level)
    return f"{sum(own.values()):,} failures are the generator's own: {', '.join(own)}"


def _too_few(attempts: int, failed: int, needed: int | None) -> str:
    errors = units.show_count(failed, "error") if failed else "no error"
    seen = f"{errors} in {units.show_count(attempts, 'attempt')}"
    if needed is None:
        most = units.show_percent(few_errors.RULE_OF_THREE / attempts)
        return f"{seen} shows at most {most} errors, never none"
    return f"{seen} shows too little: it takes {needed:,}"
