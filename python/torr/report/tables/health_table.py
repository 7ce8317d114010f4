"""The measurements from which the engine judged the health of the generator, for review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.table import Table, TableBuilder
from torr.stats.series import noun_of
from torr.units import show_ms, show_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.level import Level


def judged(levels: Sequence[Level]) -> Table | None:
    """Return one row a level: how full its busiest worker was, and how late its latest one."""
    table = TableBuilder(level for level in levels if level.health.worker_cpu_rate)
    is_locust = any(level.is_of_locust for level in table.items)
    table.number(heading(noun_of(levels)), lambda level: f"{level.position:,}")
    table.text(say("health"), lambda level: word_text(level.health.verdict))
    table.number(
        say("busiest process") if is_locust else say("busiest worker"),
        lambda level: say("{rate:.0f} % of a core", rate=max(level.health.worker_cpu_rate)),
    )
    table.number(
        say("waited for a core"),
        lambda level: show_percent(max(level.health.run_queue_rate, default=0.0)),
    )
    table.number(say("hypervisor took"), lambda level: show_percent(level.health.steal_rate))
    table.number(say("judged lag"), lambda level: show_ms(level.health.scheduling_lag_ms))
    table.number(say("late intervals"), _late_intervals)
    return table.build()


def _late_intervals(level: Level) -> str:
    """Return `–` for loads that cannot be late, and for results of older versions."""
    health = level.health
    if health.scheduling_lag_ms is None:
        return "–"
    counts = {"late": health.late_intervals, "intervals": health.intervals}
    return say("{late:,} of {intervals:,}", **counts)
