"""The monitor of a level: target and machine, from before the load to its end."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from torr.messages.message import message
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.context import RunContext
    from torr.model.plan import Plan
    from torr.monitor.monitor import Monitor
    from torr.results.level import Interval, Level


@dataclass(frozen=True, slots=True)
class LevelMonitor:
    """The monitor of one level; without `monitor` the level is not monitored."""

    monitor: Monitor | None

    def interval_came(self, piece: Interval) -> None:
        """Pass an interval to the monitor."""
        if self.monitor is not None:
            self.monitor.interval_came(piece)

    def with_monitor(self, level: Level) -> Level:
        """Stop the monitor and return the level with its samples and warnings."""
        if self.monitor is None:
            return level
        try:
            samples = self.monitor.stop(level)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            text = message(
                "warning.monitor_failed", "monitor: monitoring failed: {error}", error=why
            )
            return msgspec.structs.replace(level, warnings=[*level.warnings, text])
        warnings = [*level.warnings, *samples.warnings]
        return msgspec.structs.replace(level, monitor=samples, warnings=warnings)


@contextmanager
def monitored(context: RunContext, plan: Plan) -> Iterator[LevelMonitor]:
    """Yield the monitor of a level within the block."""
    if context.monitor_scope is None:
        yield LevelMonitor(None)
        return
    # Imported only for loads with a monitor.
    from torr.monitor.monitor import Monitor

    monitor = Monitor(context.monitor_scope(), time.monotonic() + plan.warmup_ns / SECOND_NS)
    monitor.start()
    try:
        yield LevelMonitor(monitor)
    finally:
        monitor.abandon()
