"""What follows from looks and a level together: CPU a request, and which side was the limit.

All of it is of the measured window, 0 to its seconds on the load's axis. A request is an ok answer
whose last byte lies inside the window, as in `ok_per_s`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from torr.monitor.limit import Figures, limit
from torr.monitor.resource_samples import ResourceSample, between
from torr.monitor.timeline import share
from torr.procfs.stat import TICKS_PER_S
from torr.results.monitor import WindowUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.monitor.axis import Axis
    from torr.results.level import Level

LEAST_TICKS = 10


def derived(
    looks: Sequence[ResourceSample], axis: Axis, level: Level, target_cores: tuple[int, ...]
) -> WindowUsage:
    """The `derived` of a level's monitor."""
    seconds = level.seconds
    window = (list(looks), axis.zero_s, axis.zero_s + seconds)
    answers = level.ok_per_s * seconds
    target_s = between(*window, lambda look: look.target.cpu_s if look.target else None)
    busiest_s = between(*window, lambda look: look.target.busiest_s if look.target else None)
    generator_s = between(*window, lambda look: look.generator.cpu_s)
    inside = [look for look in looks if window[1] < look.at_s <= window[2]]
    figures = Figures(
        cores=_cores(window),
        workers=tuple(level.health.worker_cpu_rate),
        is_limited=level.health.verdict == "generator-limited",
        target_rate=_percent(target_s, seconds),
        target_cores=target_cores,
        thread_rate=None if busiest_s is None else share(busiest_s, seconds),
        threads_per_process=_threads(inside),
        processes=max((look.target.processes for look in inside if look.target), default=1),
        descriptors_rate=max(
            (look.target.descriptors_rate or 0.0 for look in looks if look.target), default=None
        ),
    )
    side, reason = limit(figures)
    return WindowUsage(
        target_cpu_rate=figures.target_rate,
        target_cpu_us_per_request=_ratio(_told(target_s), answers, 1e6),
        requests_per_cpu_s=_ratio(answers, _told(target_s), 1),
        target_rss_max_bytes=max(
            (look.target.rss_bytes for look in inside if look.target), default=None
        ),
        generator_cpu_rate=_percent(generator_s, seconds),
        core_busy_rate=[round(rate, 2) for _, rate in sorted(figures.cores.items())],
        limit=side,
        limit_reason=reason,
    )


def _cores(window: tuple[list[ResourceSample], float, float]) -> dict[int, float]:
    """How busy each core was over the window."""
    numbers = {number for look in window[0] for number in look.machine.cores}
    found = {}
    for number in numbers:
        total = between(*window, partial(_ticks, number, "total"))
        busy = between(*window, partial(_ticks, number, "busy"))
        if total and busy is not None:
            found[number] = share(busy, total)
    return found


def _ticks(number: int, name: str, look: ResourceSample) -> float | None:
    core = look.machine.cores.get(number)
    return None if core is None else float(getattr(core, name))


def _threads(inside: Sequence[ResourceSample]) -> float:
    known = [
        x.target.threads / x.target.processes for x in inside if x.target and x.target.processes
    ]
    return sum(known) / len(known) if known else 1.0


def _told(cpu_s: float | None) -> float | None:
    """CPU time as far as a ratio can be made of it: it comes in ticks, and a few tell nothing."""
    return None if cpu_s is None or cpu_s * TICKS_PER_S < LEAST_TICKS else cpu_s


def _percent(cpu_s: float | None, seconds: float) -> float | None:
    return round(100 * cpu_s / seconds, 2) if cpu_s is not None and seconds else None


def _ratio(part: float | None, whole: float | None, times: float) -> float | None:
    return round(times * part / whole, 3) if part is not None and whole else None
