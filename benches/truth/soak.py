"""Half an hour of a constant rate or of think times: memory stays flat, no descriptor is lost."""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import Popen
from typing import NamedTuple

from truth.firing import fired, firing, generating, health_of, level_of, target
from truth.row import Round, Value

BAR = "memory < 1 MB/h after {} min, no descriptor more"

# The monitor of `torr run` collects 1,200 samples of about 3 kB, one a second, before it drops any.
SETTLED_S = 20 * 60
# The engine's histograms take memory for a bucket when its first value comes; rare ones come late.
ENGINE_SETTLED_S = 5 * 60

# A shorter time has no slope that could be judged.
_LEAST_S = 5 * 60
_TRIES = 3
_BLOCKS = 10


class Sample(NamedTuple):
    """What a process holds at a time."""

    at_s: float
    rss_mb: float
    descriptors: int


# Start a load against a URL, at this share of its full rate and for so many seconds.
Load = Callable[[str, float, int], AbstractContextManager[Popen[str]]]


def at_half_speed(url: str, share: float, seconds: int) -> AbstractContextManager[Popen[str]]:
    """Start a constant rate: half of what torr can pace."""
    # One by one, each in its time, requests cost twice what they cost in batches.
    most = fired(url, "-c", "64", "-z", "3s")["attempted_per_s"]
    return firing(url, "--rate", f"{most * share / 4:.0f}", "-c", "64", "-z", f"{seconds}s")


def with_think_times(url: str, share: float, seconds: int) -> AbstractContextManager[Popen[str]]:
    """Start the engine alone: users who think for 20 ms on average, together 50,000 requests/s."""
    program = str(Path(__file__).with_name("engine_alone.py"))
    return generating([sys.executable, program, url, f"{1000 * share:.0f}", str(seconds)])


def soak(minutes: int, load: Load, settled_s: int) -> Callable[[int], Round]:
    """Return a row of so many minutes, judged from `settled_s` on; a quick row takes one minute.

    The one minute has a low rate, which torr also keeps on a machine that others use. Where it does
    not, the minute tells of the neighbours, and is tried again.
    """

    def measure(seconds: int) -> Round:
        if seconds >= 10:
            return soaked(60 * minutes, share=1)
        for _ in range(_TRIES - 1):
            found = soaked(60, share=1 / 4)
            if found.aside["health"] == "healthy":
                return found
        return soaked(60, share=1 / 4)

    def soaked(length: int, share: float) -> Round:
        is_long = length >= settled_s + _LEAST_S
        with target("hello", seconds=length + 60) as (url, _), load(url, share, length) as run:
            samples = watch(run.pid, length)
            level = level_of(run)
        settled = [one for one in samples if one.at_s > (settled_s if is_long else length / 4)]
        last = settled[-1]
        grown, more = growth_of(settled)
        slope = slope_per_hour(settled)
        growth = (
            {"MB/h": Value(max(slope, 0.0), 0, 1)}
            if is_long
            else {"MB": Value(max(grown, 0.0), 0, 1)}
        )
        values = {**growth, "descriptors more": Value(more, 0, 0)}
        errors = sum(level["counts"]["errors"].values())
        aside = {
            "minutes": length / 60,
            "requests/s": level["attempted_per_s"],
            "errors": errors,
            "RSS MB": last.rss_mb,
            "MB/h standard error": slope_error(settled),
        }
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


def slope_error(samples: list[Sample]) -> float:
    """Return the standard error of the slope, MB/h, from the means of blocks.

    Memory grows in steps, so that neighbouring samples are not independent; long blocks nearly are.
    """
    size = len(samples) // _BLOCKS
    blocks = [samples[at * size : (at + 1) * size] for at in range(_BLOCKS)]
    times = [statistics.fmean(one.at_s for one in block) for block in blocks]
    sizes = [statistics.fmean(one.rss_mb for one in block) for block in blocks]
    line = statistics.linear_regression(times, sizes)
    rest = [size - line.intercept - line.slope * at for at, size in zip(times, sizes, strict=True)]
    middle = statistics.fmean(times)
    spread = sum((at - middle) ** 2 for at in times)
    return math.sqrt(sum(one**2 for one in rest) / (_BLOCKS - 2) / spread) * 3600
