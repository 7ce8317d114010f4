"""The installed `torr` as tests see it from outside: how it ended and what it left."""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

TORR = Path(sys.executable).parent / "torr"


@dataclass
class Ended:
    """How a command ended, what it wrote, and where."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def result(self):
        return json.loads((self.folder / "_output/torr/latest/result.json").read_text())

    @property
    def level(self):
        return self.result["levels"][0]


@dataclass
class Target:
    """A running `torr target`."""

    url: str
    process: subprocess.Popen

    def stop(self):
        """End it; the counts that it prints."""
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=60)
        return json.loads(out)


def children_of(process):
    """The processes that it has started and that have not ended."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        state, parent = _standing(int(place.name))
        if parent == process and state != "Z":
            found.append(int(place.name))
    return found


def words_of(process):
    """What it was started as, a word each; none of one that is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []


def wait_until_seen(process, looks=20):
    """Wait until a profiler has stopped a process some times, to look at its stacks."""
    status = Path(f"/proc/{process}/status")

    def is_stopped():
        return "TracerPid:\t0\n" not in status.read_text()

    for _ in range(looks):
        wait_until(is_stopped, 120, pause=0.001)
        wait_until(lambda: not is_stopped(), 120, pause=0.001)


def is_running(process):
    """Whether a process has not ended, be it waited for or not."""
    return _standing(process)[0] not in {"Z", None}


def _standing(process):
    """The state of a process and its parent; none of one that is gone."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None, None
    state, parent = stat.rpartition(")")[2].split()[:2]
    return state, int(parent)


def wait_until(holds, seconds=60, pause=0.01):
    """Wait for something that a process does; what it was."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(pause)
    raise AssertionError(f"not within {seconds} s")
