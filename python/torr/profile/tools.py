"""What profilers that are programs have in common: found before any load, called, and read."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError

if TYPE_CHECKING:
    from torr.profile.stacks import Stacks

HERTZ = 100
"""How often stacks are looked at, a second: little enough to change little."""

SLACK_S = 30.0
"""How long a tool may take beyond what it was asked for."""

_HINT = "run torr as root, or with CAP_SYS_PTRACE (py-spy) or CAP_PERFMON (perf)"


def beside(name: str) -> str:
    """Return the path of a program beside the Python that runs torr, else its name."""
    path = Path(sys.executable).with_name(name)
    return str(path) if path.exists() else name


def found(path: str, name: str, hint: str) -> None:
    """Raise UsageError where a program is missing."""
    if shutil.which(path) is None:
        raise UsageError(f"--profile needs {name}, which is not installed", hint)


def called(command: list[str], seconds: float) -> str:
    """Return what a program wrote; raises UsageError with its last words."""
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + SLACK_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"{name} did not end in time") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UsageError(f"{name}: {last}", _HINT)
    return done.stdout


def text_of(file: Path) -> str:
    """Return what a program left in a file; raises UsageError."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"there is no profile: {error.strerror or error}") from error


def seen(stacks: Stacks) -> Stacks:
    """Return the stacks; raises UsageError where there are none."""
    if not stacks.total:
        raise UsageError("the profiler saw nothing: the process was idle, or it ended")
    return stacks
