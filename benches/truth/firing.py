"""A target on the one core and torr on the other, each started as a user would."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TORR = str(Path(sys.executable).with_name("torr"))

Level = dict[str, Any]


@contextmanager
def target(
    *words: str, seconds: int = 120, cores: str = "1"
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A `torr target` on the second core, which ends by itself; its URL and its process."""
    process = pinned([TORR, "target", *words, "--for", f"{seconds}s"], cores)
    url = (process.stdout or sys.stdin).readline().split()[-1]
    try:
        yield url, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


@contextmanager
def firing(url: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A running `torr run` of one worker on the first core; what it keeps is thrown away."""
    with tempfile.TemporaryDirectory(prefix="torr-truth-") as place:
        command = [TORR, "run", url, *words, "--workers", "1", "-o", "json", "-d", place]
        with generating(command) as process:
            yield process


@contextmanager
def generating(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a command that generates load on the first core; end it afterwards."""
    process = pinned(command, "0")
    try:
        yield process
    finally:
        process.kill()
        process.wait(timeout=20)


def fired(url: str, *words: str) -> Level:
    """The level of a run, waited for."""
    with firing(url, *words) as process:
        return level_of(process)


def level_of(process: subprocess.Popen[str], patience: int = 200) -> Level:
    """The level of a run when it has ended."""
    output, _ = process.communicate(timeout=patience)
    level: Level = json.loads(output)["levels"][0]
    return level


def pinned(command: list[str], cores: str) -> subprocess.Popen[str]:
    """Starts a command on some cores."""
    return subprocess.Popen(["taskset", "-c", cores, *command], stdout=subprocess.PIPE, text=True)


def health_of(level: Level) -> dict[str, float | str]:
    """What stands beside every row: the verdict, how busy torr was, and what was stolen, in %."""
    health = level["health"]
    return {
        "health": health["verdict"],
        "cpu %": round(max(health["worker_cpu_rate"]), 1),
        "steal %": round(health["steal_rate"], 2),
    }
