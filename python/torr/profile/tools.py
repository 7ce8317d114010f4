"""What profilers that are programs have in common: found before any load, called, and read."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def found(path: str, name: str, hint: str, flag: str = "--profile") -> None:
    """Raise UsageError where a program is missing that a flag needs."""
    if shutil.which(path) is None:
        raise UsageError(f"{flag} needs {name}, which is not installed", hint)


class Program:
    """Programs that one profile needs, one after another; who no longer waits for it stops them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: subprocess.Popen[str] | None = None
        self._is_stopped = False

    def called(self, command: list[str], seconds: float, *codes: int) -> str:
        """Return what a program wrote; raises UsageError with its last words.

        It may end with other `codes` than 0, if any are given.
        """
        name = Path(command[0]).name
        try:
            with self._begun(command) as process, _killed_at_last(process):
                out, said = process.communicate(timeout=seconds + SLACK_S)
        except subprocess.TimeoutExpired as error:
            raise UsageError(f"{name} did not end in time") from error
        except OSError as error:
            raise UsageError(f"{name} cannot be run: {error.strerror or error}") from error
        if process.returncode not in (0, *codes):
            last = (said.strip().splitlines() or ["it said nothing"])[-1]
            raise UsageError(f"{name}: {last}", _HINT)
        return out

    def stop(self) -> None:
        """End the program that runs, and start no other."""
        with self._lock:
            self._is_stopped = True
            if self._running is not None:
                self._running.terminate()

    def _begun(self, command: list[str]) -> subprocess.Popen[str]:
        with self._lock:
            if self._is_stopped:
                raise UsageError(f"{Path(command[0]).name} was stopped")
            self._running = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
            return self._running


@contextmanager
def _killed_at_last(process: subprocess.Popen[str]) -> Iterator[None]:
    """Nobody waits for a program that did not end in time."""
    try:
        yield
    except BaseException:
        process.kill()
        raise


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
