"""`GET /metrics`: the numbers of a run, in Prometheus' text format.

Counters include all phases, with the label `phase`. Quantiles are those of the newest interval;
`_sum` and `_count` are of the whole run. The numbers of a level appear after its end. Times are in
seconds, shares are ratios, by Prometheus' conventions. Numbers are added up in the thread of the
experiment and read in that of the server.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from time import thread_time
from typing import TYPE_CHECKING, Any, Literal, get_args

from torr import __version__
from torr.results.base import Statistics
from torr.results.level import IntervalHealth
from torr.units import show_setting
from torr.webserver.live.exposition import ExportedSample, Labels, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torr.experiments.context import Step
    from torr.results.level import Interval, Level
    from torr.results.result import TrialFailure

QUANTILES = {"p50": "0.5", "p90": "0.9", "p95": "0.95", "p99": "0.99", "p99_9": "0.999"}
Time = Literal["response", "service", "stream_wait", "window_wait", "message"]
TIMES: tuple[Time, ...] = get_args(Time)
TIMES_OF_ALL = ("response", "service")
"""Times of every run; the others are of HTTP/2 and gRPC."""
MS_PER_S = 1000.0

Kind = Literal["counter", "gauge", "summary"]

FAMILIES: dict[str, tuple[Kind, str]] = {
    "torr_info": ("gauge", "Version, kind and name of the run, always 1."),
    "torr_running": ("gauge", "1 during the run, 0 after its end."),
    "torr_elapsed_seconds": ("gauge", "Time since the first level began."),
    "torr_remaining_seconds": ("gauge", "Time until the end of the run, if known."),
    "torr_level": ("gauge", "The current level, counted from 1."),
    "torr_levels": ("gauge", "Number of levels, if known."),
    "torr_concurrency": ("gauge", "Users of the level, or connections of arrivals."),
    "torr_attempts_total": ("counter", "Requests that were started."),
    "torr_ok_total": ("counter", "Requests with a correct answer."),
    "torr_errors_total": ("counter", "Requests that failed, by error class."),
    "torr_dropped_total": ("counter", "Requests that were due and not started."),
    "torr_statuses_total": ("counter", "Answers by status."),
    "torr_received_bytes_total": ("counter", "Bytes that were received."),
    "torr_sent_bytes_total": ("counter", "Bytes that were sent."),
    "torr_ok_per_second": ("gauge", "Correct answers per second in the newest interval."),
    "torr_attempts_per_second": ("gauge", "Requests started per second in the newest interval."),
    "torr_in_flight": ("gauge", "Requests that were open at the end of the newest interval."),
    "torr_connections_open": (
        "gauge",
        "Connections that were open at the end of the newest interval.",
    ),
    "torr_response_seconds": (
        "summary",
        "Time from the due time of a request to the last byte of its response.",
    ),
    "torr_service_seconds": (
        "summary",
        "Time from the first byte of a request to the last byte of its response.",
    ),
    "torr_stream_wait_seconds": (
        "summary",
        "Time for which a request waited for a stream that the server allows; only over HTTP/2.",
    ),
    "torr_window_wait_seconds": (
        "summary",
        "Time for which the server allowed no more bytes of a request; only over HTTP/2.",
    ),
    "torr_message_seconds": (
        "summary",
        "Time from a message of a gRPC call to the one that answers it.",
    ),
    "torr_stalled_ratio": (
        "gauge",
        "Share of the time of connections in which they could not send; only over HTTP/2.",
    ),
    "torr_worker_cpu_ratio": (
        "gauge",
        "Share of a core that each worker used in the newest interval.",
    ),
    "torr_node_attempts_total": ("counter", "Requests that a node of the generator started."),
    "torr_node_ok_total": ("counter", "Requests of a node with a correct answer."),
    "torr_node_ok_per_second": (
        "gauge",
        "Correct answers per second to a node in the newest interval.",
    ),
    "torr_level_ok_per_second": ("gauge", "Correct answers per second of a level that has ended."),
    "torr_level_success_ratio": ("gauge", "The share of a level's attempts that ended ok."),
    "torr_level_response_seconds": ("gauge", "Response time of a level that has ended."),
    "torr_level_limited": ("gauge", "1 if the generator limited the level."),
    "torr_failed_trials_total": ("counter", "Trials of a comparison that failed."),
    "torr_live_cpu_seconds_total": ("counter", "CPU time of the live page's own thread."),
}
"""Type and help of all families, by name."""


@dataclass
class Metrics:
    """Adds up intervals and levels, and writes the page.

    `info` are the labels of torr_info; `cost_s` returns the CPU time of the thread that
    writes the page, which is the server's, `progress` the elapsed and the remaining time in
    seconds.
    """

    info: Mapping[str, str]
    progress: Callable[[], tuple[float, float | None]] = lambda: (0.0, None)
    cost_s: Callable[[], float] = thread_time
    is_running: bool = True
    _last_progress: tuple[float, float | None] = (0.0, None)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _counts: dict[tuple[str, Labels], float] = field(default_factory=dict)
    _now: dict[tuple[str, Labels], float] = field(default_factory=dict)
    _levels: dict[tuple[str, Labels], float] = field(default_factory=dict)

    def level_started(self, step: Step) -> None:
        """Set the number and concurrency of the level."""
        values: dict[tuple[str, Labels], float] = {
            ("torr_level", ()): step.index + 1,
            ("torr_concurrency", ()): step.concurrency,
        }
        if step.total is not None:
            values["torr_levels", ()] = step.total
        with self._lock:
            self._now = values

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Add an interval."""
        trial = _trial(step.candidate, step.factors)
        with self._lock:
            for sample in _counted(piece, trial):
                key = sample.name, sample.labels
                self._counts[key] = self._counts.get(key, 0) + sample.value
            # Values that the newest interval does not have are dropped.
            level_values = {key: x for key, x in self._now.items() if key[0] in _OF_LEVEL}
            self._now = {
                **level_values,
                **{(s.name, s.labels): s.value for s in _newest(piece, trial)},
            }

    def level_ended(self, step: Step, level: Level) -> None:
        """Set the numbers of a level; a later level with the same labels replaces them."""
        rate = () if level.offered_rate is None else (("rate", f"{level.position}"),)
        labels = (
            ("concurrency", f"{level.concurrency}"),
            *rate,
            ("round", f"{step.round}"),
            *_trial(step.candidate, step.factors),
        )
        with self._lock:
            self._levels.update({(s.name, s.labels): s.value for s in _ended(level, labels)})

    def trial_failed(self, failure: TrialFailure) -> None:
        """Count a failed trial."""
        labels = _trial(failure.candidate, failure.factors)
        key = "torr_failed_trials_total", labels
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1

    def text(self) -> str:
        """Return the page."""
        return page(FAMILIES, self._samples())

    def _samples(self) -> list[ExportedSample]:
        if self.is_running:
            self._last_progress = self.progress()
        elapsed_s, remaining_s = self._last_progress
        info = (("version", __version__), *self.info.items())
        samples = [
            ExportedSample("torr_info", info, 1),
            ExportedSample("torr_running", (), int(self.is_running)),
            ExportedSample("torr_elapsed_seconds", (), elapsed_s),
            ExportedSample("torr_live_cpu_seconds_total", (), self.cost_s()),
        ]
        if remaining_s is not None:
            samples.append(
                ExportedSample("torr_remaining_seconds", (), remaining_s if self.is_running else 0)
            )
        with self._lock:
            known = [*self._now.items(), *self._counts.items(), *self._levels.items()]
        return samples + [ExportedSample(name, labels, value) for (name, labels), value in known]


_OF_LEVEL = ("torr_level", "torr_levels", "torr_concurrency")


def _trial(candidate: str | None, factors: Mapping[str, Any]) -> Labels:
    """Return the labels of a trial of a comparison; one for all factors, which have any names."""
    if candidate is None:
        return ()
    return (("candidate", candidate), ("setting", show_setting(factors)))


def _counted(piece: Interval, trial: Labels) -> Iterator[ExportedSample]:
    """Yield the growth of counters by an interval."""
    labels = (*trial, ("phase", piece.phase))
    counts = piece.counts
    yield ExportedSample("torr_attempts_total", labels, counts.attempted)
    yield ExportedSample("torr_ok_total", labels, counts.ok)
    yield ExportedSample("torr_dropped_total", labels, counts.dropped)
    for name, count in counts.errors.items():
        yield ExportedSample("torr_errors_total", (*labels, ("class", name)), count)
    for status, count in piece.statuses.items():
        yield ExportedSample("torr_statuses_total", (*labels, ("status", status)), count)
    yield ExportedSample("torr_received_bytes_total", labels, piece.bytes_in)
    yield ExportedSample("torr_sent_bytes_total", labels, piece.bytes_out)
    for node in piece.nodes or ():
        of_node = (*labels, ("node", node.name))
        yield ExportedSample("torr_node_attempts_total", of_node, node.attempted)
        yield ExportedSample("torr_node_ok_total", of_node, node.ok)
    for time in TIMES:
        stats = _statistics(piece, time)
        n, mean_ms = stats.n, stats.mean or 0.0
        if not n and time not in TIMES_OF_ALL:
            continue
        yield ExportedSample(f"torr_{time}_seconds_sum", labels, n * mean_ms / MS_PER_S)
        yield ExportedSample(f"torr_{time}_seconds_count", labels, n)


def _newest(piece: Interval, trial: Labels) -> Iterator[ExportedSample]:
    """Yield the gauges and quantiles of the newest interval."""
    labels = (*trial, ("phase", piece.phase))
    known = {
        "torr_ok_per_second": piece.ok_per_s,
        "torr_attempts_per_second": piece.attempted_per_s,
        "torr_in_flight": piece.counts.in_flight,
        "torr_connections_open": piece.connections_open,
    }
    yield from (ExportedSample(name, trial, x) for name, x in known.items() if x is not None)
    for node in piece.nodes or ():
        if node.ok_per_s is not None:
            of_node = (*trial, ("node", node.name))
            yield ExportedSample("torr_node_ok_per_second", of_node, node.ok_per_s)
    for time in TIMES:
        for quantile, value_ms in _quantiles(_statistics(piece, time)):
            quantile_labels = (*labels, ("quantile", quantile))
            yield ExportedSample(f"torr_{time}_seconds", quantile_labels, value_ms / MS_PER_S)
    health = piece.health or IntervalHealth()
    if health.stalled_rate:
        yield ExportedSample("torr_stalled_ratio", trial, health.stalled_rate / 100)
    rates = health.worker_cpu_rate
    for number, rate in zip(health.workers or range(len(rates)), rates, strict=True):
        if rate is not None:
            yield ExportedSample("torr_worker_cpu_ratio", (("worker", f"{number}"),), rate / 100)


def _ended(level: Level, labels: Labels) -> Iterator[ExportedSample]:
    """Yield the numbers of a level that has ended."""
    yield ExportedSample("torr_level_ok_per_second", labels, level.ok_per_s)
    if level.success_rate is not None:
        yield ExportedSample("torr_level_success_ratio", labels, level.success_rate / 100)
    is_limited = level.is_limited
    yield ExportedSample("torr_level_limited", labels, int(is_limited))
    for quantile, value_ms in _quantiles(_statistics(level, "response")):
        quantile_labels = (*labels, ("quantile", quantile))
        yield ExportedSample("torr_level_response_seconds", quantile_labels, value_ms / MS_PER_S)


def _quantiles(stats: Statistics) -> Iterator[tuple[str, float]]:
    """Yield the known quantiles; upper ones are unknown if due requests were not sent."""
    for stat, quantile in QUANTILES.items():
        value = stats.value(stat)
        if value is not None and stat not in stats.at_least:
            yield quantile, value


def _statistics(part: Interval | Level, time: Time) -> Statistics:
    return part.latency.time(f"{time}_ms") or Statistics(n=0)
