"""Sample target, generator and machine while a level is measured.

    monitor = Monitor(watch, zero_s=time.monotonic() + 2)   # the window begins after a warm-up
    monitor.start()
    …                                                       # the load; monitor.interval_came(piece)
    series = monitor.stop(level)

Unreadable values raise no error and do not delay the load: they are null, with one of `warnings`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import msgspec

from torr.messages.message import message
from torr.monitor.process_tree import ProcessTree, Roots
from torr.monitor.resource_samples import ResourceSample, SampleHistory, with_full_last_interval
from torr.monitor.serving_source import ServingReadings
from torr.monitor.serving_window import serving_samples
from torr.monitor.ticker import Ticker
from torr.monitor.time_axis import TimeAxis
from torr.monitor.timeline import timeline
from torr.monitor.window_usage import window_usage
from torr.procfs.process import name_of
from torr.procfs.totals import machine_totals
from torr.results.monitor import EndpointSamples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.procfs.files import Root
    from torr.results.level import Interval, Level
    from torr.results.monitor import MonitorSeries

# CPU time comes in ticks of 10 ms: shorter intervals show the ticks.
_MIN_INTERVAL_S = 0.2


class MonitorSource(Protocol):
    """An endpoint that is read during a load."""

    def start(self, axis: TimeAxis) -> None:
        """Start reading."""

    def stop(self, seconds: float) -> EndpointSamples | ServingReadings:
        """Stop reading; return the samples of a window of `seconds`, within a few seconds."""

    def abandon(self) -> None:
        """Stop reading; further calls do nothing."""

    @property
    def cost_s(self) -> float:
        """Return the CPU time that reading took."""


@dataclass(frozen=True, slots=True)
class MonitorScope:
    """The processes and endpoints to monitor.

    `roots` is called for each sample and returns the first processes of the target, if any; their
    descendants are the target, too. `others` are processes that torr started, but that are neither
    part of the target nor of torr. `root` is the directory that contains /proc.
    """

    roots: Roots | None = None
    others: Roots = tuple
    sources: tuple[MonitorSource, ...] = ()
    root: Root = ""


class Monitor:
    """The monitor of one level; `zero_s` is the expected start of its window."""

    def __init__(self, watch: MonitorScope, zero_s: float) -> None:
        self._watch = watch
        self._axis = TimeAxis(zero_s)
        self._samples = SampleHistory[ResourceSample]()
        # Servers that torr started are its children, and torr may be a child of the target.
        self._target = (
            ProcessTree(watch.roots, watch.root, excluded=_own_process) if watch.roots else None
        )
        self._generator = ProcessTree(_own_process, watch.root, excluded=self._other_processes)
        self._ticker = Ticker(self._take_sample, self._axis, "monitor")
        self._cost_s = 0.0
        self._began_s = time.monotonic()

    def start(self) -> None:
        """Take the first sample, and then one per second."""
        self._began_s, cpu_s = time.monotonic(), time.thread_time()
        self._take_sample()
        self._cost_s = time.thread_time() - cpu_s
        self._ticker.start()
        for source in self._watch.sources:
            source.start(self._axis)

    def interval_came(self, piece: Interval) -> None:
        """Adjust the zero of the time axis to an interval that arrived."""
        end_s = piece.t_s + piece.seconds
        is_measured = piece.phase == "measure"
        self._axis.interval_came(end_s, time.monotonic(), is_measured=is_measured)

    def stop(self, level: Level) -> MonitorSeries:
        """Take the last sample and return the `monitor` of this level."""
        self._ticker.stop()
        cpu_s = time.thread_time()
        self._take_sample()
        target = self._target
        pss = None if target is None else target.pss_bytes()
        cores = () if target is None else target.cores()
        names = [] if target is None else self._names()
        self._cost_s += time.thread_time() - cpu_s
        samples = with_full_last_interval(self._samples.samples, _MIN_INTERVAL_S)
        series = timeline(samples, self._axis)
        if series.target is not None:
            series.target = msgspec.structs.replace(
                series.target, pss_bytes=pss, cores=list(cores), names=names
            )
        stopped = [source.stop(level.seconds) for source in self._watch.sources]
        endpoints = [source for source in stopped if isinstance(source, EndpointSamples)]
        taken = [source for source in stopped if isinstance(source, ServingReadings)]
        serving = serving_samples(taken, self._axis, level.seconds) if taken else None
        sources = [*endpoints, *(serving.sources if serving else ())]
        warnings = [source.error for source in sources if source.error]
        if target is not None and not any(
            sample.target and sample.target.processes for sample in samples
        ):
            text = message("warning.no_target", "monitor: the process of the target does not exist")
            warnings.append(text)
        sources_s = sum(source.cost_s for source in self._watch.sources)
        cost_s = self._cost_s + self._ticker.cost_s + sources_s
        return msgspec.structs.replace(
            series,
            derived=window_usage(samples, self._axis, level, cores),
            endpoints=endpoints,
            serving=serving or msgspec.UNSET,
            warnings=warnings,
            cost_rate=round(100 * cost_s / max(1e-9, time.monotonic() - self._began_s), 4),
        )

    def abandon(self) -> None:
        """Stop without a result, after the load failed; further calls do nothing."""
        self._ticker.stop()
        for source in self._watch.sources:
            source.abandon()

    def _take_sample(self) -> None:
        at_s = time.monotonic()
        generator = self._generator.sample()
        target = None if self._target is None else self._target.sample()
        self._samples.add(ResourceSample(at_s, machine_totals(self._watch.root), generator, target))

    def _names(self) -> list[str]:
        """Return pid and name of the target's first processes: `1234 nginx`."""
        roots: Sequence[int] = self._watch.roots() if self._watch.roots is not None else ()
        return [f"{pid} {name_of(pid, self._watch.root)}".strip() for pid in roots]

    def _other_processes(self) -> Sequence[int]:
        watch = self._watch
        return [*(watch.roots() if watch.roots else ()), *watch.others()]


def _own_process() -> Sequence[int]:
    return [os.getpid()]
