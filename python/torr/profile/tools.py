"""Check, run and stop the programs of profilers, and read their output."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.message import Message, message

if TYPE_CHECKING:
    from torr.profile.stacks import Stacks

HERTZ = 100
"""Samples per second: few enough to disturb the target little."""

SLACK_S = 30.0
"""The time that a tool may take beyond the requested one."""

_HINT = message(
    "hint.profile_rights",
    "run torr as root, or with CAP_SYS_PTRACE (py-spy) or CAP_PERFMON (perf)",
)


def program_path(name: str) -> str:
    """Return the path of a program in the folder of torr's Python, or else its name."""
    path = Path(sys.executable).with_name(name)
    return str(path) if path.exists() else name


def check_installed(path: str, name: str, hint: str, flag: str = "--profile") -> None:
    """Raise UsageError if a program that a flag needs is missing."""
    if shutil.which(path) is None:
        raise UsageError(not_installed(flag, name), hint)


def not_installed(flag: str, name: str) -> Message:
    """Say that a program or package that a flag needs is missing."""
    return message(
        "profile.not_installed", "{flag} needs {name}, which is not installed", flag=flag, name=name
    )


def tool_failure(name: str, reason: str) -> Message:
    """Say why a tool failed, in its own words."""
    return message("profile.of_tool", "{name}: {reason}", name=name, reason=reason)


class Program:
    """Runs the programs of one profile, one after another; another thread may stop them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: subprocess.Popen[str] | None = None
        self._is_stopped = False

    def run(self, command: list[str], seconds: float, *codes: int) -> str:
        """Run a program and return its output; raise UsageError with the last line of its errors.

        `codes` are exit codes other than 0 that are no errors.
        """
        name = Path(command[0]).name
        try:
            with self._start(command) as process:
                try:
                    output, errors = process.communicate(timeout=seconds + SLACK_S)
                except BaseException:
                    process.kill()
                    raise
        except subprocess.TimeoutExpired as error:
            text = message("profile.not_in_time", "{name} did not end in time", name=name)
            raise UsageError(text) from error
        except OSError as error:
            text = message(
                "profile.not_run",
                "{name} cannot be run: {error}",
                name=name,
                error=error.strerror or str(error),
            )
            raise UsageError(text) from error
        if process.returncode not in (0, *codes):
            lines = errors.strip().splitlines()
            silent = message("profile.no_output", "it printed nothing")
            raise UsageError(tool_failure(name, lines[-1] if lines else silent), _HINT)
        return output

    def stop(self) -> None:
        """End the running program, and refuse to start another."""
        with self._lock:
            self._is_stopped = True
            if self._running is not None:
                self._running.terminate()

    def _start(self, command: list[str]) -> subprocess.Popen[str]:
        with self._lock:
            if self._is_stopped:
                name = Path(command[0]).name
                raise UsageError(message("profile.stopped", "{name} was stopped", name=name))
            self._running = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
            return self._running


def read_output(file: Path) -> str:
    """Return the content of a program's output file; raise UsageError if there is none."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        text = message(
            "profile.none", "there is no profile: {error}", error=error.strerror or str(error)
        )
        raise UsageError(text) from error


def require_samples(stacks: Stacks) -> Stacks:
    """Return the stacks; raise UsageError if they are empty."""
    if not stacks.total:
        raise UsageError(
            message("profile.empty", "the profiler saw nothing: the process was idle, or it ended")
        )
    return stacks
