"""Conditions on measured numbers: `p95 < 500ms`, `success >= 99.9%`, `GET /: ttfb p95 < 80ms`.

The one grammar of SLOs, budgets and `--abort-on`, read once into a frozen value:

    [NAME:] METRIC [STAT] OP VALUE

    METRIC  response (may be left out), service, ttfb, wait, connect, lag        VALUE a duration
            success, errors                                                      VALUE in %
            ok/s, attempted/s                                                    VALUE a rate
    STAT    p50 p75 p90 p95 p99 p99.9 p99.99 mean min max, for times; an error class, for errors
    OP      <  <=  >  >=

A metric that nothing measures is refused: a condition on it could never be told. What is measured
is the table METRICS, whose units say the rest: a new metric is a line there.

A condition is `held`, `broken`, or `not shown`, which is what an honest reader says of a number
that is missing, that is only a lower bound, or that stands on too few attempts. Where no request
succeeded a missing number is the target's doing, and the condition is broken. This module judges
one level; which levels and rounds belong together is decided in stats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from torr import units
from torr.errors import UsageError

Level = Mapping[str, Any]
Word = Literal["held", "broken", "not shown"]

Unit = Literal["ms", "%", "/s"]

METRICS: Mapping[str, Unit] = {
    "response": "ms",
    "service": "ms",
    "ttfb": "ms",
    "wait": "ms",
    "connect": "ms",
    "tls": "ms",
    "lag": "ms",
    "success": "%",
    "errors": "%",
    "ok/s": "/s",
    "attempted/s": "/s",
}
STATS = ("p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "mean", "min", "max")
CLASSES = ("connect", "tls", "write", "read", "timeout", "protocol", "status")
OWN_REASONS = ("connect.no_descriptor", "connect.no_port", "connect.no_buffer")

_GRAMMAR = re.compile(
    r"(?:(?P<name>.*\S)\s*:\s+)?(?P<words>[^<>=:]*?)\s*(?P<op><=|>=|<|>)\s*(?P<value>[^<>=]+)"
)
_HINT = "write it as 'p95 < 500ms', 'success >= 99.9%', 'ok/s > 10k' or 'login: ttfb p99 < 80ms'"


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


@dataclass(frozen=True)
class Condition:
    """One parsed condition; `text` is what the user wrote.

    `limit` is in milliseconds for times, percent for shares, per second for rates; `name` is the
    request it is about, None for all of them.
    """

    metric: str
    stat: str | None
    op: str
    limit: float
    name: str | None = None
    text: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read one condition; raises UsageError that says what was not understood."""
        found = _GRAMMAR.fullmatch(text.strip())
        if found is None:
            raise UsageError(f"{text.strip()!r} is not a condition", _HINT)
        metric, stat = _metric_and_stat(found["words"].split(), text)
        return cls(
            metric=metric,
            stat=stat,
            op=found["op"],
            limit=_limit(metric, found["value"]),
            name=found["name"],
            text=" ".join(text.split()),
        )

    @property
    def unit(self) -> Unit:
        """The unit of value and limit: `ms`, `%` or `/s`."""
        return METRICS[self.metric]

    @property
    def wants_little(self) -> bool:
        """Whether the value has to lie below the limit."""
        return self.op in ("<", "<=")

    @property
    def label(self) -> str:
        """The measured thing in words: `p95`, `service p99`, `success`."""
        words = [self.metric, self.stat or ""]
        if self.metric == "response":
            words = [self.stat or ""]
        text = " ".join(word for word in words if word)
        return text if self.name is None else f"{self.name}: {text}"

    def __str__(self) -> str:
        write = {"ms": _write_ms, "%": units.format_percent, "/s": units.format_rate}[self.unit]
        return f"{self.label} {self.op} {write(self.limit)}"

    def show(self, value: float | None) -> str:
        """Write a value of this metric for people, with its unit."""
        if self.unit == "ms":
            return units.show_ms(value)
        return units.show_percent(value) if self.unit == "%" else f"{units.show_rate(value)}/s"

    def show_limit(self) -> str:
        """Write the limit for people, exactly, with its unit: `500 ms`, `99.9 %`, `10,000/s`."""
        if self.unit == "ms":
            text = _write_ms(self.limit)
            number = text.rstrip("hmnus")
            return f"{number} {text.removeprefix(number)}"
        return f"{self.limit:g} %" if self.unit == "%" else f"{self.limit:,.10g}/s"

    def evaluate(self, level: Level, attempts: int | None = None) -> Holds:
        """Judge one level of result.json (or one slice: the same keys).

        `attempts` is how many ended attempts stand behind the claim where that is more than the
        level's own, as when rounds of one level are judged together.
        """
        verdict = (level.get("health") or {}).get("verdict", "healthy")
        if verdict == "generator-limited":
            return Holds(None, self.limit, "not shown", "the generator was the limit")
        part = _part(level, self.name)
        if part is None:
            return Holds(None, self.limit, "not shown", f"no request is named {self.name!r}")
        holds = self._of_part(part, attempts, contended=verdict == "contended")
        if holds.value is None and (part.get("counts") or {}).get("ok") == 0:
            return Holds(None, self.limit, "broken", "no request succeeded")
        return holds

    def _of_part(self, part: Level, attempts: int | None, *, contended: bool) -> Holds:
        if self.unit == "%":
            return self._of_share(part, attempts)
        if self.unit == "/s":
            return self._of_rate(part, contended=contended)
        return self._of_time(part)

    def _of_time(self, level: Level) -> Holds:
        stats = _stats(level, self.metric)
        value = stats.get(_key(self.stat))
        dropped = (level.get("counts") or {}).get("dropped", 0)
        if self.metric == "response" and dropped and self.wants_little:
            never = f"{units.show_count(dropped, 'due request')} never sent"
            reason = f"{never}: response times are lower bounds"
            return Holds(value, self.limit, "broken", reason)
        if value is None:
            return Holds(None, self.limit, "not shown", self._why_no_time(stats))
        at_least = _key(self.stat) in stats.get("at_least", ()) or (
            self.metric == "response" and bool(dropped)
        )
        holds = self._of_number(value, at_least=at_least)
        if at_least and holds.word == "not shown":
            reason = f"{self.label} is only known to be at least {units.show_ms(value)}"
            return Holds(value, self.limit, "not shown", reason)
        return Holds(value, self.limit, holds.word, _survivors(level))

    def _why_no_time(self, stats: Mapping[str, Any]) -> str:
        answers = stats.get("n", 0)
        if not answers or self.stat not in STATS[:7]:
            return f"no {self.metric} time was measured"
        # A percentile p is shown from n = 10 / (1 - p) values on.
        needed = math.ceil(10 / (1 - float(self.stat[1:]) / 100) - 1e-6)
        return f"{self.stat} needs {needed:,} answers, there were {answers:,}"

    def _of_share(self, level: Level, attempts: int | None) -> Holds:
        """Judge a share of attempts, as percent.

        By the rule of three, n attempts without one error show at most 3/n errors (95 %), so a
        limit of q is held only by n >= 3/q attempts. Breaking it needs no such number: the errors
        were seen.
        """
        counts = level.get("counts") or {}
        errors = counts.get("errors") or {}
        ended = counts.get("ok", 0) + sum(errors.values())
        if not ended:
            return Holds(None, self.limit, "not shown", "no attempt ended")
        failed = sum(errors.values()) if self.stat is None else errors.get(self.stat, 0)
        error_rate = 100 * failed / ended
        value = 100 - error_rate if self.metric == "success" else error_rate
        holds = self._of_number(value)
        if holds.word == "broken" and self._is_excused(level, failed, ended):
            return Holds(value, self.limit, "not shown", _own_text(level))
        claims_few_errors = self.wants_little == (self.metric == "errors")
        claimed = (holds.word == "held") == claims_few_errors
        allowed = 100 - self.limit if self.metric == "success" else self.limit
        attempts = ended if attempts is None else attempts
        if not claimed or attempts * allowed >= 300 - 1e-6:
            return holds
        return Holds(value, self.limit, "not shown", _too_few(attempts, failed, allowed))

    def _is_excused(self, level: Level, failed: int, ended: int) -> bool:
        """Whether it broke only through what the generator's own machine did not give."""
        own = sum(_own_failures(level).values())
        if not own or self.stat not in (None, "connect"):
            return False
        error_rate = 100 * (failed - own) / max(1, ended - own)
        value = 100 - error_rate if self.metric == "success" else error_rate
        return self._of_number(value).word == "held"

    def _of_rate(self, level: Level, *, contended: bool) -> Holds:
        value = _rate(level, self.metric)
        if value is None:
            return Holds(None, self.limit, "not shown", f"no {self.metric} was measured")
        holds = self._of_number(value, at_least=contended)
        reason = None
        if contended:
            reason = "client and target share this machine: the rate is a lower bound"
        return Holds(value, self.limit, holds.word, reason)

    def _of_number(self, value: float, *, at_least: bool = False) -> Holds:
        """Compare; a lower bound can break `<` and hold `>`, and shows nothing else."""
        true = {
            "<": value < self.limit,
            "<=": value <= self.limit,
            ">": value > self.limit,
            ">=": value >= self.limit,
        }[self.op]
        if at_least and true == self.wants_little:
            return Holds(value, self.limit, "not shown")
        return Holds(value, self.limit, "held" if true else "broken")


def _metric_and_stat(words: list[str], text: str) -> tuple[str, str | None]:
    if len(words) == 1 and words[0] in STATS:
        words = ["response", *words]
    metric, *stats = words or [""]
    if metric not in METRICS:
        if _is_percentile(metric):
            raise UsageError(f"{text.strip()!r}: {metric} is not kept", _kept())
        hint = f"metrics are {', '.join(METRICS)}"
        what = f"{metric or 'nothing'} is not a metric that this version measures"
        raise UsageError(f"{text.strip()!r}: {what}", hint)
    if len(stats) > 1:
        raise UsageError(f"{text.strip()!r}: {' '.join(stats)!r} is more than one statistic", _HINT)
    stat = stats[0] if stats else None
    _check_stat(metric, stat, text.strip())
    return metric, stat


def _check_stat(metric: str, stat: str | None, text: str) -> None:
    if METRICS[metric] == "ms":
        if stat is None:
            raise UsageError(f"{text!r}: {metric} needs a statistic", f"write {metric} p95")
        if stat not in STATS:
            raise UsageError(f"{text!r}: {stat} is not kept", _kept())
    elif metric == "errors" and stat is not None:
        if stat not in CLASSES:
            hint = f"classes are {', '.join(CLASSES)}"
            raise UsageError(f"{text!r}: {stat} is not a class of errors", hint)
    elif stat is not None:
        raise UsageError(f"{text!r}: {metric} is one number and has no {stat}", f"write {metric}")


def _limit(metric: str, text: str) -> float:
    if METRICS[metric] == "%":
        return units.parse_percent(text)
    if METRICS[metric] == "/s":
        return units.parse_rate(text)
    return units.parse_duration(text) / 1e6


def _is_percentile(word: str) -> bool:
    return re.fullmatch(r"p\d+(\.\d+)?", word) is not None


def _kept() -> str:
    return f"kept are {', '.join(STATS)}"


def _write_ms(milliseconds: float) -> str:
    return units.format_duration(round(milliseconds * 1e6))


def _part(level: Level, name: str | None) -> Level | None:
    """The level itself, or the step with the name."""
    if name is None:
        return level
    steps = level.get("steps") or ()
    return next((step for step in steps if step.get("name") == name), None)


def _stats(level: Level, metric: str) -> Mapping[str, Any]:
    stats: Mapping[str, Any] | None = (level.get("latency") or {}).get(f"{metric}_ms")
    return stats or {}


def _key(stat: str | None) -> str:
    return (stat or "").replace(".", "_")


def _rate(level: Level, metric: str) -> float | None:
    value: float | None = level.get(metric.replace("/s", "_per_s"))
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


def _too_few(attempts: int, failed: int, allowed: float) -> str:
    errors = units.show_count(failed, "error") if failed else "no error"
    seen = f"{errors} in {units.show_count(attempts, 'attempt')}"
    if allowed <= 0:
        return f"{seen} shows at most {units.show_percent(300 / attempts)} errors, never none"
    needed = math.ceil(300 / allowed - 1e-6)
    return f"{seen} shows too little: it takes {needed:,}"
