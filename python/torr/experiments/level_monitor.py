"""Target and machine are watched while a level is measured: who begins, tells and ends it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import msgspec

from torr.messages.message import message
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.context import RunContext
    from torr.model.plan import Plan
    from torr.monitor.monitor import Monitor
    from torr.results.level import Interval, Level


class LevelMonitor(Protocol):
    """A level that is being measured, and maybe watched."""

    def interval_came(self, piece: Interval, /) -> None:
        """Hear that an interval has come."""

    def with_monitor(self, level: Level, /) -> Level:
        """The level with what was seen during it."""


@contextmanager
def monitored(context: RunContext, plan: Plan) -> Iterator[LevelMonitor]:
    """Watch what the context wants watched, from before the load to its end."""
    if context.watch is None:
        yield _Unwatched()
        return
    # Not needed by a load that nobody watches.
    from torr.monitor.monitor import Monitor

    monitor = Monitor(context.watch(), time.monotonic() + plan.warmup_ns / SECOND_NS)
    monitor.start()
    try:
        yield _ByMonitor(monitor)
    finally:
        monitor.abandon()


class _Unwatched:
    def interval_came(self, piece: Interval, /) -> None:
        """Nobody wants to know."""

    def with_monitor(self, level: Level, /) -> Level:
        return level


class _ByMonitor:
    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    def interval_came(self, piece: Interval, /) -> None:
        self._monitor.interval_came(piece)

    def with_monitor(self, level: Level, /) -> Level:
        try:
            found = self._monitor.stop(level)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            text = message("warning.monitor_failed", "monitor: it failed: {error}", error=why)
            return msgspec.structs.replace(level, warnings=[*level.warnings, text])
        warnings = [*level.warnings, *found.warnings]
        return msgspec.structs.replace(level, monitor=found, warnings=warnings)
