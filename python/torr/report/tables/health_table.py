"""What the health of the generator was judged by, so that anybody can check it.

Nothing is judged here: the engine did that, interval by interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.cells import Table
from torr.stats.series import noun_of
from torr.units import show_ms, show_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.level import Health, Level


def judged(levels: Sequence[Level]) -> Table | None:
    """Return one row a level: how full its busiest worker was, and how late its latest one."""
    known = [level for level in levels if level.health.worker_cpu_rate]
    if not known:
        return None
    is_locust = any(level.is_of_locust for level in known)
    columns = (
        heading(noun_of(levels)),
        say("health"),
        say("busiest process") if is_locust else say("busiest worker"),
        say("waited for a core"),
        say("hypervisor took"),
        say("judged lag"),
        say("late intervals"),
    )
    return Table(columns, tuple(map(_row, known)), frozenset({1}))


def _row(level: Level) -> tuple[str, ...]:
    health = level.health
    return (
        f"{level.concurrency:,}",
        word_text(health.verdict),
        say("{rate:.0f} % of a core", rate=max(health.worker_cpu_rate)),
        show_percent(max(health.run_queue_rate, default=0.0)),
        show_percent(health.steal_rate),
        *_lag(health),
    )


def _lag(health: Health) -> tuple[str, str]:
    """Where nobody could be late there is none, and older results do not say."""
    if health.scheduling_lag_ms is None:
        return "–", "–"
    counts = {"late": health.late_intervals, "intervals": health.intervals}
    return show_ms(health.scheduling_lag_ms), say("{late:,} of {intervals:,}", **counts)
