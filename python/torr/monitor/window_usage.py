"""Compute CPU time per request and the bottleneck of a level, from samples and the level's counts.

Values are of the measured window, from 0 to its length on the time axis. Requests are ok responses
whose last byte arrived in the window, as in `ok_per_s`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from torr.monitor.bottleneck import Utilization, bottleneck
from torr.monitor.resource_samples import ResourceSample, growth_between
from torr.monitor.timeline import share
from torr.procfs.stat import TICKS_PER_S
from torr.results.monitor import WindowUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.monitor.time_axis import TimeAxis
    from torr.results.level import Level

MIN_TICKS = 10


def window_usage(
    samples: Sequence[ResourceSample], axis: TimeAxis, level: Level, target_cores: tuple[int, ...]
) -> WindowUsage:
    """Return the member `derived` of a level's monitor."""
    seconds = level.seconds
    window = (list(samples), axis.zero_s, axis.zero_s + seconds)
    answers = level.ok_per_s * seconds
    target_s = growth_between(
        *window, lambda sample: sample.target.cpu_s if sample.target else None
    )
    busiest_s = growth_between(
        *window, lambda sample: sample.target.busiest_s if sample.target else None
    )
    generator_s = growth_between(*window, lambda sample: sample.generator.cpu_s)
    inside = [sample for sample in samples if window[1] < sample.at_s <= window[2]]
    figures = Utilization(
        cores=_cores(window),
        workers=tuple(level.health.worker_cpu_rate),
        is_limited=level.is_limited,
        target_rate=_percent(target_s, seconds),
        target_cores=target_cores,
        thread_rate=None if busiest_s is None else share(busiest_s, seconds),
        threads_per_process=_threads(inside),
        processes=max((sample.target.processes for sample in inside if sample.target), default=1),
        descriptors_rate=max(
            (sample.target.descriptors_rate or 0.0 for sample in samples if sample.target),
            default=None,
        ),
    )
    side, reason = bottleneck(figures)
    return WindowUsage(
        target_cpu_rate=figures.target_rate,
        target_cpu_us_per_request=_ratio(_measurable(target_s), answers, 1e6),
        requests_per_cpu_s=_ratio(answers, _measurable(target_s), 1),
        target_rss_max_bytes=max(
            (sample.target.rss_bytes for sample in inside if sample.target), default=None
        ),
        generator_cpu_rate=_percent(generator_s, seconds),
        core_busy_rate=[round(rate, 2) for _, rate in sorted(figures.cores.items())],
        limit=side,
        limit_reason=reason,
    )


def _cores(window: tuple[list[ResourceSample], float, float]) -> dict[int, float]:
    """Return the utilization of each core over the window, in percent."""
    numbers = {number for sample in window[0] for number in sample.machine.cores}
    busy_rates = {}
    for number in numbers:
        total = growth_between(*window, partial(_ticks, number, "total"))
        busy = growth_between(*window, partial(_ticks, number, "busy"))
        if total and busy is not None:
            busy_rates[number] = share(busy, total)
    return busy_rates


def _ticks(number: int, name: str, sample: ResourceSample) -> float | None:
    core = sample.machine.cores.get(number)
    return None if core is None else float(getattr(core, name))


def _threads(inside: Sequence[ResourceSample]) -> float:
    known = [
        x.target.threads / x.target.processes for x in inside if x.target and x.target.processes
    ]
    return sum(known) / len(known) if known else 1.0


def _measurable(cpu_s: float | None) -> float | None:
    """Return a CPU time, or None if it has too few ticks for a meaningful ratio."""
    return None if cpu_s is None or cpu_s * TICKS_PER_S < MIN_TICKS else cpu_s


def _percent(cpu_s: float | None, seconds: float) -> float | None:
    return round(100 * cpu_s / seconds, 2) if cpu_s is not None and seconds else None


def _ratio(part: float | None, whole: float | None, times: float) -> float | None:
    return round(times * part / whole, 3) if part is not None and whole else None
