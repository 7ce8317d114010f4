"""Conditions on measured numbers: `p95 < 500ms`, `success >= 99.9%`, `GET /: ttfb p95 < 80ms`.

The one grammar of SLOs, budgets and `--abort-on`, read once into a frozen value:

    [NAME:] METRIC [STAT] OP VALUE

    METRIC  response (may be left out), service, ttfb, queue_wait, connect,
            tls, scheduling_lag                                          VALUE a duration
            of HTTP/2: stream_wait window_wait; of gRPC: message         VALUE a duration
            of streams: ttfe ttft ttfo ttst inter_chunk inter_read e2e stream_end tpot
            success, errors; of streams: goodput                                 VALUE in %
            failures, how many attempts failed                                   VALUE a number
            ok/s, attempted/s; of streams: tokens/s, good/s                      VALUE a rate
    STAT    p50 p75 p90 p95 p99 p99.9 p99.99 mean min max, for times
            an error class, for errors and failures
    OP      <  <=  >  >=

The table METRICS names every metric and its unit; a condition on another metric is refused. A new
metric is a line of that table. `verdicts` judges conditions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from torr import units
from torr.errors import UsageError
from torr.messages.say import say
from torr.model.stream import TIMES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self


Unit = Literal["ms", "%", "/s", ""]

_MS: Unit = "ms"
# Every response has the first one, `ttfb`.
STREAM_TIMES = TIMES[1:]
# Metrics that only streams have.
STREAM_METRICS = frozenset({*STREAM_TIMES, "goodput", "tokens/s", "good/s"})

METRICS: Mapping[str, Unit] = {
    "response": "ms",
    "service": "ms",
    "ttfb": "ms",
    "queue_wait": "ms",
    "stream_wait": "ms",
    "window_wait": "ms",
    "message": "ms",
    "connect": "ms",
    "tls": "ms",
    "scheduling_lag": "ms",
    **dict.fromkeys(STREAM_TIMES, _MS),
    "success": "%",
    "errors": "%",
    "goodput": "%",
    "failures": "",
    "ok/s": "/s",
    "attempted/s": "/s",
    "tokens/s": "/s",
    "good/s": "/s",
}
_FORMER_NAMES = {"lag": "scheduling_lag", "wait": "queue_wait"}
STATS = ("p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "mean", "min", "max")
CLASSES = ("connect", "tls", "write", "read", "timeout", "protocol", "status", "check", "stream")

_GRAMMAR = re.compile(
    r"(?:(?P<name>.*\S)\s*:\s+)?(?P<words>[^<>=:]*?)\s*(?P<op><=|>=|<|>)\s*(?P<value>[^<>=]+)"
)
_HINT = say(
    "write it as 'p95 < 500ms', 'success >= 99.9%', 'ok/s > 10k' or 'login: ttfb p99 < 80ms'"
)


@dataclass(frozen=True)
class Condition:
    """One parsed condition; `text` is what the user wrote, with the current name of the metric.

    `limit` is in milliseconds for times, percent for shares, per second for rates, else a number;
    `name` is the request it is about, None for all of them; `preset` is the name that stood for it.
    """

    metric: str
    stat: str | None
    op: str
    limit: float
    name: str | None = None
    text: str = field(default="", compare=False)
    preset: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read one condition; raise UsageError that says what was not understood."""
        return cls.parse_with(text, _limit, _HINT)

    @classmethod
    def parse_with(cls, text: str, limit: Callable[[str, str], float], hint: str) -> Self:
        """Read one condition; `limit` returns the number of VALUE from the metric and the text."""
        match = _GRAMMAR.fullmatch(_with_current_names(text.strip()))
        if match is None:
            raise UsageError(say("{text!r} is not a condition", text=text.strip()), hint)
        metric, stat = _metric_and_stat(match["words"].split(), text)
        return cls(
            metric=metric,
            stat=stat,
            op=match["op"],
            limit=limit(metric, match["value"].strip()),
            name=match["name"],
            text=" ".join(match[0].split()),
        )

    @property
    def unit(self) -> Unit:
        """Return the unit of value and limit: `ms`, `%` or `/s`; empty for a count."""
        return METRICS[self.metric]

    @property
    def is_of_streams(self) -> bool:
        """Return whether only streams have the metric."""
        return self.metric in STREAM_METRICS or self.stat == "stream"

    @property
    def wants_little(self) -> bool:
        """Return whether the value has to lie below the limit."""
        return self.op in ("<", "<=")

    def is_met_by(self, value: float) -> bool:
        """Return whether a value holds the condition."""
        return {
            "<": value < self.limit,
            "<=": value <= self.limit,
            ">": value > self.limit,
            ">=": value >= self.limit,
        }[self.op]

    @property
    def label(self) -> str:
        """Return the name of the metric and statistic: `p95`, `service p99`, `success`."""
        words = [self.metric, self.stat or ""]
        if self.metric == "response":
            words = [self.stat or ""]
        text = " ".join(word for word in words if word)
        return text if self.name is None else f"{self.name}: {text}"

    def __str__(self) -> str:
        write = {"ms": _write_ms, "%": units.format_percent}.get(self.unit, units.format_rate)
        return f"{self.label} {self.op} {write(self.limit)}"

    def show(self, value: float | None) -> str:
        """Write a value of this metric for people, with its unit."""
        if self.unit == "ms":
            return units.show_ms(value)
        if self.unit == "%":
            return units.show_percent(value)
        return f"{units.show_rate(value)}{self.unit}"

    def show_limit(self) -> str:
        """Write the limit for people, exactly, with its unit: `500 ms`, `99.9 %`, `10,000/s`."""
        if self.unit == "ms":
            text = _write_ms(self.limit)
            number = text.rstrip("hmnus")
            return f"{number} {text.removeprefix(number)}"
        return f"{self.limit:g} %" if self.unit == "%" else f"{self.limit:,.10g}{self.unit}"


def _with_current_names(text: str) -> str:
    """Return a condition whose metric has its name of today: `lag p99 < 1ms` has a former one."""
    match = _GRAMMAR.fullmatch(text)
    metric = match["words"].partition(" ")[0] if match else ""
    if match is None or metric not in _FORMER_NAMES:
        return text
    start = match.start("words")
    return text[:start] + _FORMER_NAMES[metric] + text[start + len(metric) :]


def _metric_and_stat(words: list[str], text: str) -> tuple[str, str | None]:
    if len(words) == 1 and words[0] in STATS:
        words = ["response", *words]
    metric, *stats = words or [""]
    if metric not in METRICS:
        if _is_percentile(metric):
            raise UsageError(
                say("{text!r}: {metric} is not recorded", text=text.strip(), metric=metric),
                _known_stats(),
            )
        hint = say("metrics are {metrics}", metrics=", ".join(METRICS))
        problem = f"{metric or 'nothing'} is not a metric that this version measures"
        raise UsageError(say("{text!r}: {problem}", text=text.strip(), problem=problem), hint)
    if len(stats) > 1:
        raise UsageError(
            say(
                "{text!r}: {stats!r} is more than one statistic",
                text=text.strip(),
                stats=" ".join(stats),
            ),
            _HINT,
        )
    stat = stats[0] if stats else None
    _check_stat(metric, stat, text.strip())
    return metric, stat


def _check_stat(metric: str, stat: str | None, text: str) -> None:
    if METRICS[metric] == "ms":
        if stat is None:
            raise UsageError(
                say("{text!r}: {metric} needs a statistic", text=text, metric=metric),
                say("write {metric} p95", metric=metric),
            )
        if stat not in STATS:
            raise UsageError(
                say("{text!r}: {stat} is not recorded", text=text, stat=stat), _known_stats()
            )
    elif metric in ("errors", "failures") and stat is not None:
        if stat not in CLASSES:
            hint = say("classes are {classes}", classes=", ".join(CLASSES))
            raise UsageError(
                say("{text!r}: {stat} is not a class of errors", text=text, stat=stat), hint
            )
    elif stat is not None:
        raise UsageError(
            say(
                "{text!r}: {metric} is one number and has no {stat}",
                text=text,
                metric=metric,
                stat=stat,
            ),
            say("write {metric}", metric=metric),
        )


def _limit(metric: str, text: str) -> float:
    if METRICS[metric] == "%":
        return units.parse_percent(text)
    if METRICS[metric] == "/s":
        return units.parse_rate(text)
    if METRICS[metric] == "":
        return float(units.parse_count(text))
    if re.fullmatch(r"\d+(\.\d+)?", text.strip()):
        # A number without a unit may mean seconds or milliseconds.
        raise UsageError(
            say("the limit {text!r} has no unit", text=text.strip()),
            say("write {text}ms", text=text.strip()),
        )
    return units.parse_duration(text) / 1e6


def _is_percentile(text: str) -> bool:
    return re.fullmatch(r"p\d+(\.\d+)?", text) is not None


def _known_stats() -> str:
    return say("statistics are {stats}", stats=", ".join(STATS))


def _write_ms(milliseconds: float) -> str:
    return units.format_duration(round(milliseconds * 1e6))
