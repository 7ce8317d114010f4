"""Half an hour at half of the rate that torr keeps: memory stays flat, no descriptor is lost."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from truth.firing import fired, firing, health_of, level_of, target
from truth.row import Round, Value

BAR = "memory < 1 MB/h after 5 min, no descriptor more"

_SETTLED_S = 300
_TRIES = 3


class Sample(NamedTuple):
    """What a process holds at a time."""

    at_s: float
    rss_mb: float
    descriptors: int


def soak(minutes: int) -> Callable[[int], Round]:
    """So many minutes at half of what torr can pace, or one for trying, with a looser bar.

    The one minute has a low rate, which torr also keeps on a machine that others use. Where it does
    not, the minute tells of the neighbours, and is tried again.
    """

    def measure(seconds: int) -> Round:
        if seconds >= 10:
            return soaked(60 * minutes)
        for _ in range(_TRIES - 1):
            found = soaked(60, share=1 / 16)
            if found.aside["health"] == "healthy":
                return found
        return soaked(60, share=1 / 16)

    # One by one, each in its time, requests cost twice what they cost in batches.
    def soaked(length: int, share: float = 1 / 4) -> Round:
        with target("hello", seconds=length + 60) as (url, _):
            most = fired(url, "-c", "64", "-z", "3s")["attempted_per_s"]
            words = ("--rate", f"{most * share:.0f}", "-c", "64", "-z", f"{length}s")
            with firing(url, *words) as run:
                samples = watch(run.pid, length)
                level = level_of(run)
        settled = [one for one in samples if one.at_s > min(_SETTLED_S, length / 4)]
        last = settled[-1]
        grown, more = growth_of(settled)
        slope = slope_per_hour(settled)
        is_long = length > 2 * _SETTLED_S
        growth = (
            {"MB/h": Value(max(slope, 0.0), 0, 1)}
            if is_long
            else {"MB": Value(max(grown, 0.0), 0, 1)}
        )
        values = {**growth, "descriptors more": Value(more, 0, 0)}
        errors = sum(level["counts"]["errors"].values())
        aside = {"requests/s": level["attempted_per_s"], "errors": errors, "RSS MB": last.rss_mb}
        return Round(values, aside | health_of(level))

    return measure


def growth_of(samples: list[Sample]) -> tuple[float, int]:
    """How many MB and descriptors more the last quarter holds than the first.

    A look may fall into the moment in which a file of /proc is open: what is lost stays lost, so
    the least of many looks tells it.
    """
    quarter = max(1, len(samples) // 4)
    begun, ended = samples[:quarter], samples[-quarter:]
    rss = [statistics.median(one.rss_mb for one in part) for part in (begun, ended)]
    held = [min(one.descriptors for one in part) for part in (begun, ended)]
    return rss[1] - rss[0], held[1] - held[0]


def watch(process: int, seconds: int) -> list[Sample]:
    """Looks at a process once a second, as long as its window lasts."""
    started, samples = time.monotonic(), []
    while (at_s := time.monotonic() - started) < seconds:
        samples.append(Sample(at_s, rss_mb(process), descriptors(process)))
        time.sleep(1)
    return samples


def rss_mb(process: int) -> float:
    """Its resident memory."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    kib = next(line.split()[1] for line in lines if line.startswith("VmRSS:"))
    return int(kib) / 1024


def descriptors(process: int) -> int:
    """How many it holds."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def slope_per_hour(samples: list[Sample]) -> float:
    """How fast memory grows, by least squares."""
    times, sizes = [one.at_s for one in samples], [one.rss_mb for one in samples]
    return statistics.linear_regression(times, sizes).slope * 3600
