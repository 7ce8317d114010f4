"""A measured number by which candidates are compared, and which direction of it is better.

A metric is known by its key, the place of its number in result.json: `ok_per_s`,
`response_ms.p99`, `error_rate`. Numbers that cannot be below 0 and have no top are compared by
their ratio; shares of attempts, which have both, by their difference in percentage points.

A trial that claims nothing has no number: where nothing was attempted, the window was cut short,
or users starved. A percentile without enough answers has none either. An ok/s of 0 is a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.results.level import rate_of, time_of, unreported_in

if TYPE_CHECKING:
    from torr.results.level import Level, NamedRequest

OK_PER_S = "ok_per_s"
ERROR_RATE = "error_rate"

_SHARES = {"success_rate": True, "goodput_rate": True, ERROR_RATE: False}
_MONITORED = ("target_cpu_us_per_request", "target_rss_max_bytes")
_LABELS = {
    OK_PER_S: "ok/s",
    "error_rate": "errors",
    "success_rate": "success",
    "goodput_rate": "goodput",
    "target_cpu_us_per_request": "CPU a request",
    "target_rss_max_bytes": "RSS",
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a level; `request` names the request it is of, None for all of them."""

    key: str
    request: str | None = None

    @property
    def is_share(self) -> bool:
        """Whether it is percent of attempts, compared by points."""
        return self.key in _SHARES

    @property
    def is_time(self) -> bool:
        """Whether it is a time in milliseconds, of responses that were ok."""
        return "_ms." in self.key

    @property
    def is_rate(self) -> bool:
        """Whether it counts something a second."""
        return self.key.endswith("_per_s")

    @property
    def more_is_better(self) -> bool:
        """Whether the higher number is the better one."""
        return _SHARES.get(self.key, self.is_rate)

    @property
    def label(self) -> str:
        """What people call it: `ok/s`, `p99`, `service mean`."""
        kind, _, stat = self.key.partition("_ms.")
        words = _LABELS.get(self.key, self.key.replace("_per_s", "/s"))
        if stat:
            words = " ".join([kind, stat.replace("_", ".")]).removeprefix("response ")
        return words if self.request is None else f"{self.request}: {words}"

    def word(self, word: str) -> str:
        """Return how a verdict is printed: times and rates are `faster` or `slower`."""
        if not (self.is_time or self.is_rate):
            return word
        return {"better": "faster", "worse": "slower"}.get(word, word)

    def read(self, level: Level) -> float | None:
        """Return the number of a trial; None where it has none, or claims nothing."""
        if not level.counts.attempted or level.cut_short or level.is_starved:
            return None
        part = self.part(level)
        if part is None:
            return None
        if self.key == ERROR_RATE:
            return None if part.success_rate is None else 100 - part.success_rate
        if self.key in _MONITORED:
            return _monitored(level, self.key) if part is level else None
        if self.is_time:
            kind, _, stat = self.key.partition(".")
            times = time_of(part, kind)
            return None if times is None else times.value(stat)
        return rate_of(part, self.key)

    def is_lower_bound(self, level: Level) -> bool:
        """Return whether the number of a trial is only known not to be lower.

        A rate, where client and target shared the machine, or where responses did not report their
        tokens; a time, where requests that were due were never sent and would have taken longer.
        """
        part = self.part(level)
        if self.is_rate:
            return level.is_contended or bool(part and unreported_in(part, self.key))
        if part is None or not self.is_time:
            return False
        kind, _, stat = self.key.partition(".")
        times = time_of(part, kind)
        return times is not None and times.is_lower_bound(stat)

    def part(self, level: Level) -> Level | NamedRequest | None:
        """Return what it is a number of: the level, or the request in it; None without that."""
        return level if self.request is None else level.request(self.request)


METRICS = tuple(
    map(Metric, (OK_PER_S, "response_ms.p50", "response_ms.p99", ERROR_RATE, *_MONITORED))
)
"""What a comparison judges unless told otherwise."""

OF_STREAMS = tuple(map(Metric, ("ttft_ms.mean", "ttft_ms.p95", "tpot_ms.mean")))
"""What it judges too if responses stream."""


OF_ALL_STREAMS = (Metric("tokens_per_s"),)
"""What it judges of streams only as its primary metric."""


def named(text: str) -> Metric:
    """Return the metric that people call so, such as `p99`; raises UsageError."""
    known = {metric.label: metric for metric in (*METRICS, *OF_STREAMS, *OF_ALL_STREAMS)}
    hint = say("choose one of {known}", known=", ".join(known))
    require(text.strip() in known, say("{text!r} is not a metric of a comparison", text=text), hint)
    return known[text.strip()]


def primary_of(level: Level) -> Metric:
    """Return the primary metric of a level."""
    return of_load(at_rate=level.rate is not None or level.is_by_times)


def of_load(*, at_rate: bool) -> Metric:
    """Return the primary metric of a load: p99 of an open loop, else ok/s."""
    return Metric("response_ms.p99" if at_rate else OK_PER_S)


def _monitored(level: Level, key: str) -> float | None:
    value: float | None = getattr(level.monitor and level.monitor.derived, key, None)
    return value
