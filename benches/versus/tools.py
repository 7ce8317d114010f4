"""The tools under comparison: how each is called, and what it says it did."""

from __future__ import annotations

import atexit
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

TORR = str(Path(sys.executable).with_name("torr"))
# Where the runs under measurement leave their files.
SCRATCH = tempfile.mkdtemp(prefix="torr-versus-")
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


@dataclass
class Shot:
    """One run of one tool: what it did, and what that cost."""

    tool: str
    command: list[str]
    requests: int
    cpu_s: float
    seconds: float
    wall_s: float
    output: str = field(repr=False, default="")

    @property
    def cpu_us(self) -> float:
        """Client processor time per request, in µs."""
        return self.cpu_s * 1e6 / max(self.requests, 1)


def torr(url: str, connections: int, seconds: int) -> Shot:
    """Fires torr for so many seconds, after a second of warm-up."""
    started = time.monotonic()
    command = [TORR, "run", url, "-c", str(connections), "-z", f"{seconds}s", "--warmup", "1s"]
    # wrk checks no certificate either.
    command += ["-k"] if url.startswith("https") else []
    command += ["--workers", "1", "-o", "json", "-d", SCRATCH]
    output, _ = spend(command)
    level = json.loads(output)["levels"][0]
    for heavy in ("histograms", "slices", "steps"):
        level.pop(heavy, None)
    # Of the whole process, Python front included, over the measured window.
    cpu_s = level["generator"]["cpu_s"]
    requests = round(level["attempted_per_s"] * level["seconds"])
    wall_s = time.monotonic() - started
    text = json.dumps(level)
    return Shot("torr", command, requests, cpu_s, level["seconds"], wall_s, text)


def wrk(url: str, connections: int, seconds: int) -> Shot:
    """Fires wrk with one thread."""
    started = time.monotonic()
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", url]
    output, cpu_s = spend(command)
    found = re.search(r"(\d+) requests in ([\d.]+)s", output)
    if not found:
        message = f"wrk said something else:\n{output}"
        raise RuntimeError(message)
    wall_s = time.monotonic() - started
    return Shot("wrk", command, int(found[1]), cpu_s, float(found[2]), wall_s, output)


TOOLS = {"torr": torr, "wrk": wrk}


def spend(command: list[str], core: int = 0) -> tuple[str, float]:
    """Runs a command on one core; its output and its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    pinned = {"preexec_fn": lambda: os.sched_setaffinity(0, {core})}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=300, **pinned
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        message = (
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}{done.stdout[-2000:]}"
        )
        raise RuntimeError(message)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, spent


def versions() -> str:
    """One line with the version of every tool."""
    torr_version = subprocess.run([TORR, "--version"], check=True, capture_output=True, text=True)
    wrk_version = subprocess.run(["wrk", "-v"], check=False, capture_output=True, text=True)
    first = (wrk_version.stdout + wrk_version.stderr).splitlines()[0]
    return f"{torr_version.stdout.strip()} · {first.split(' Copyright')[0]}"
