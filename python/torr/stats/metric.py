"""A measured number by which candidates are compared, and which direction of it is better.

A metric is known by its key, the place of its number in result.json: `ok_per_s`,
`response_ms.p99`, `error_rate`. Numbers that cannot be below 0 and have no top are compared by
their ratio; shares of attempts, which have both, by their difference in percentage points.

A trial that claims nothing has no number: where nothing was attempted, the window was cut short,
or users starved. A percentile without enough answers has none either. An ok/s of 0 is a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torr.errors import require
from torr.stats.series import attempted, is_cut, is_starved, verdict_of

Level = Mapping[str, Any]

OK_PER_S = "ok_per_s"
ERROR_RATE = "error_rate"

_SHARES = {"success_rate": True, "goodput_rate": True, ERROR_RATE: False}
_MONITORED = {
    "target_cpu_us_per_request": ("derived", "target_cpu_us_per_request"),
    "target_rss_max_bytes": ("derived", "target_rss_max_bytes"),
}
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
        """Whether it is a time in milliseconds, of answers that were ok."""
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
        if not attempted(level) or is_cut(level) or is_starved(level):
            return None
        part = _part(level, self.request)
        return None if part is None else self._of(part)

    def is_lower_bound(self, level: Level) -> bool:
        """Return whether the number of a trial is only known not to be lower.

        A rate, where client and target shared the machine; a time, where requests that were due
        were never sent and would have taken longer.
        """
        if self.is_rate:
            return verdict_of(level) == "contended"
        part = _part(level, self.request)
        if part is None or not self.is_time:
            return False
        kind, _, stat = self.key.partition(".")
        stats = (part.get("latency") or {}).get(kind) or (part.get("stream") or {}).get(kind) or {}
        return stat in (stats.get("at_least") or ())

    def _of(self, part: Level) -> float | None:
        if self.key == ERROR_RATE:
            success: float | None = part.get("success_rate")
            return None if success is None else 100 - success
        if self.key in _MONITORED:
            return _at(part.get("monitor"), *_MONITORED[self.key])
        if self.is_time:
            kind, _, stat = self.key.partition(".")
            found = _at(part.get("latency"), kind, stat)
            return found if found is not None else _at(part.get("stream"), kind, stat)
        value: float | None = part.get(self.key)
        return value if value is not None else _at(part.get("stream"), self.key)


METRICS = tuple(
    map(Metric, (OK_PER_S, "response_ms.p50", "response_ms.p99", ERROR_RATE, *_MONITORED))
)
"""What a comparison judges unless told otherwise."""


def named(text: str) -> Metric:
    """Return the metric that people call so, such as `p99`; raises UsageError."""
    known = {metric.label: metric for metric in METRICS}
    hint = f"there is {', '.join(known)}"
    require(text.strip() in known, f"{text!r} is no metric of a comparison", hint)
    return known[text.strip()]


def primary_of(level: Level) -> Metric:
    """Return the primary metric: p99 where arrivals came at a rate, else ok/s."""
    return Metric(OK_PER_S if level.get("rate") is None else "response_ms.p99")


def _part(level: Level, request: str | None) -> Level | None:
    if request is None:
        return level
    return next((x for x in level.get("steps") or () if x.get("name") == request), None)


def _at(part: Any, *keys: str) -> float | None:  # noqa: ANN401 - JSON
    for key in keys:
        part = part.get(key) if isinstance(part, Mapping) else None
    return float(part) if isinstance(part, int | float) else None
