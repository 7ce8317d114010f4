"""Watch target, generator and machine while a level is measured; say what they did.

    monitor = Monitor(watch, zero_s=time.monotonic() + 2)   # the window begins after a warm-up
    monitor.start()
    …                                                       # the load; monitor.interval_came(piece)
    series = monitor.stop(level)

Nothing here raises for what it cannot see, and no load waits for it: what could not be looked at is
null, and said once in `warnings`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import msgspec

from torr.messages.message import message
from torr.monitor.axis import Axis
from torr.monitor.derived import derived
from torr.monitor.resource_samples import ResourceSample, SampleHistory, joined
from torr.monitor.ticker import Ticker
from torr.monitor.timeline import timeline
from torr.monitor.tree import Roots, Tree
from torr.procfs.process import name_of
from torr.procfs.totals import machine_totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from torr.procfs.files import Root
    from torr.results.level import Interval, Level
    from torr.results.monitor import EndpointSamples, MonitorSeries

# CPU time comes in ticks of 10 ms: shorter intervals show the ticks.
_LEAST_S = 0.2


class MonitorSource(Protocol):
    """Somebody else's numbers, asked for beside the looks."""

    def start(self, axis: Axis) -> None:
        """Begin to ask."""

    def stop(self, seconds: float) -> EndpointSamples:
        """Ask no more; what was told, on the axis of a window so long. Takes seconds at most."""

    def abandon(self) -> None:
        """Ask no more; again does nothing."""

    @property
    def cost_s(self) -> float:
        """The CPU time that it took."""


@dataclass(frozen=True, slots=True)
class MonitorScope:
    """What to watch: the target's processes, if they are known, and other sources.

    `roots` is asked again at each look; all that is below those processes is the target. `others`
    are processes that are neither target nor torr, though torr started them.
    """

    roots: Roots | None = None
    others: Roots = tuple
    sources: tuple[MonitorSource, ...] = ()
    root: Root = ""


class Monitor:
    """One level's watching; `zero_s` is where its window will begin, as far as is known."""

    def __init__(self, watch: MonitorScope, zero_s: float) -> None:
        self._watch = watch
        self._axis = Axis(zero_s)
        self._looks = SampleHistory[ResourceSample]()
        # Servers that torr started are children of it, too; and it may run below what is watched.
        self._target = Tree(watch.roots, watch.root, but_for=_torr) if watch.roots else None
        self._generator = Tree(_torr, watch.root, but_for=partial(_not_torr, watch))
        self._ticker = Ticker(self._look, self._axis, "monitor")
        self._own_s = 0.0
        self._began_s = time.monotonic()

    def start(self) -> None:
        """Look for the first time, and then once a second."""
        self._began_s = time.monotonic()
        with _Spent() as spent:
            self._look()
        self._own_s = spent.seconds
        self._ticker.start()
        for source in self._watch.sources:
            source.start(self._axis)

    def interval_came(self, piece: Interval) -> None:
        """Hear that an interval has come: it tells where the zero of the axis is."""
        end_s = piece.t_s + piece.seconds
        is_measured = piece.phase == "measure"
        self._axis.interval_came(end_s, time.monotonic(), is_measured=is_measured)

    def stop(self, level: Level) -> MonitorSeries:
        """Look for the last time; the `monitor` of this level."""
        self._ticker.stop()
        with _Spent() as spent:
            self._look()
            target = self._target
            pss = None if target is None else target.pss_bytes()
            cores = () if target is None else target.cores()
            names = [] if target is None else self._names()
        looks = joined(self._looks.all, _LEAST_S)
        series = timeline(looks, self._axis)
        if series.target is not None:
            known = {"pss_bytes": pss, "cores": list(cores), "names": names}
            target_series = msgspec.structs.replace(series.target, **known)
            series = msgspec.structs.replace(series, target=target_series)
        endpoints = [source.stop(level.seconds) for source in self._watch.sources]
        warnings = [each.error for each in endpoints if each.error]
        if target is not None and not any(look.target and look.target.processes for look in looks):
            text = message("warning.no_target", "monitor: the process of the target is not there")
            warnings.append(text)
        others = sum(source.cost_s for source in self._watch.sources)
        cost_s = self._own_s + spent.seconds + self._ticker.cost_s + others
        return msgspec.structs.replace(
            series,
            derived=derived(looks, self._axis, level, cores),
            endpoints=endpoints,
            warnings=warnings,
            cost_rate=round(100 * cost_s / max(1e-9, time.monotonic() - self._began_s), 4),
        )

    def abandon(self) -> None:
        """Look no more, whatever was seen: of a load that has failed. Again does nothing."""
        self._ticker.stop()
        for source in self._watch.sources:
            source.abandon()

    def _look(self) -> None:
        at_s = time.monotonic()
        generator = self._generator.look()
        target = None if self._target is None else self._target.look()
        self._looks.add(ResourceSample(at_s, machine_totals(self._watch.root), generator, target))

    def _names(self) -> list[str]:
        """Who the roots are: `1234 nginx`."""
        roots: Sequence[int] = self._watch.roots() if self._watch.roots is not None else ()
        return [f"{pid} {name_of(pid, self._watch.root)}".strip() for pid in roots]


def _not_torr(watch: MonitorScope) -> Sequence[int]:
    return [*(watch.roots() if watch.roots else ()), *watch.others()]


def _torr() -> Sequence[int]:
    return [os.getpid()]


class _Spent:
    """The CPU time of the calling thread within a block."""

    seconds = 0.0

    def __enter__(self) -> Self:
        self._began_s = time.thread_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.thread_time() - self._began_s
