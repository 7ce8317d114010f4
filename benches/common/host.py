"""The machine that a run was made on."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any


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
