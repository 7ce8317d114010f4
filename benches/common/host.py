"""The machine that a run was made on."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

_CALCULATION = range(20_000)


def describe() -> dict[str, Any]:
    """Processor, kernel, versions and commit: what a reader needs to doubt the numbers."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = next(
        (
            line.split(":")[1].strip()
            for line in cpuinfo.splitlines()
            if line.startswith("model name")
        ),
        "?",
    )
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], check=False, capture_output=True, text=True
    )
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "commit": commit.stdout.strip() or None,
        "load_before": os.getloadavg(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def stamp() -> str:
    """A name for a kept run."""
    return time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime())


def slow_share(seconds: float = 5.0) -> float:
    """The share of time in which the idle machine ran at less than half its speed.

    The host of a virtual machine may slow it down, and need not report that as stolen time.
    """
    took = []
    end = time.perf_counter() + seconds
    while (begin := time.perf_counter()) < end:
        sum(_CALCULATION)
        took.append(time.perf_counter() - begin)
    return share_of_slow(took)


def share_of_slow(took: Sequence[float]) -> float:
    """The share of the time of equal calculations that took more than twice their median."""
    limit = 2 * median(took)
    return sum(one for one in took if one > limit) / sum(took)
