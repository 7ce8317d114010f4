"""Commands on the first core, and the processor time of all their processes."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

CLIENT_CORE, TARGET_CORE = "0", "1"

_PR_SET_CHILD_SUBREAPER = 36
_SHOWN_CHARACTERS = 2_000
_ORPHANS_S = 10


def run(
    command: Sequence[str],
    timeout_s: float = 300,
    environment: Mapping[str, str] | None = None,
    *,
    may_fail: bool = False,
) -> tuple[str, float]:
    """Return what a command wrote, and the processor time of it and all its descendants in s.

    Raise RuntimeError if it fails.
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    others, before = _children(), _children_s()
    ended = subprocess.run(
        ["taskset", "-c", CLIENT_CORE, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
        env={**os.environ, **(environment or {})},
    )
    _await(lambda: _children() - others)
    cpu_s = _children_s() - before
    if ended.returncode and not may_fail:
        output = (ended.stdout + ended.stderr).strip()[-_SHOWN_CHARACTERS:]
        message = f"{command[0]} ended with status {ended.returncode}: {output}"
        raise RuntimeError(message)
    return ended.stdout, cpu_s


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _children() -> set[int]:
    """Return the children of this process, with the orphans that it has adopted."""
    lists = Path("/proc/self/task").glob("*/children")
    return {int(number) for numbers in lists for number in numbers.read_text().split()}


def _await(orphans: Callable[[], set[int]]) -> None:
    """Wait until orphans have ended, so that their processor time is counted."""
    until = time.monotonic() + _ORPHANS_S
    while (left := orphans()) and time.monotonic() < until:
        for number in left:
            os.waitpid(number, os.WNOHANG)
        time.sleep(0.05)
    if left:
        message = f"processes {sorted(left)} of the client go on after it has ended"
        raise RuntimeError(message)
