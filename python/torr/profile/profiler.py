"""What takes a profile while a load runs: Go's own pprof by its URL, py-spy of a Python, else perf.

A profiler is checked before any load: whether it is there and may look. What goes wrong later is
told, and costs the profile alone.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import urllib.request
from collections import Counter
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol
from urllib.error import HTTPError

from torr.errors import UsageError
from torr.profile import pprof
from torr.profile.stacks import Stack, Stacks

HERTZ = 100
"""How often stacks are looked at, a second: little enough to change little."""

_SLACK_S = 30.0
_COMMAND = re.compile(r'^process (\d+):".*?";', re.MULTILINE | re.DOTALL)
_FRAME = re.compile(r"\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \(.*\)$")


class Profiler(Protocol):
    """One way to see where a target's time goes."""

    @property
    def tool(self) -> str:
        """What people call it."""

    def check(self) -> None:
        """Raise UsageError where it cannot work here."""

    def take(self, seconds: int) -> Stacks:
        """Look for so long; raises UsageError that says why there is no profile."""


def profiler_of(what: int | str) -> Profiler:
    """Return what profiles a process by its id, or a Go server by the URL of its pprof."""
    if isinstance(what, str):
        return Pprof(what)
    program = _program(what)
    return PySpy(what) if program.startswith("python") else Perf(what)


@dataclass(frozen=True, slots=True)
class Pprof:
    """Go's net/http/pprof; `url` is its directory, or that of the profile itself."""

    url: str
    tool: str = "pprof"

    @property
    def address(self) -> str:
        """Where a CPU profile is asked for."""
        base = self.url.rstrip("/")
        return base if base.endswith("/profile") else f"{base}/profile"

    def check(self) -> None:
        """Ask for its index, which costs nothing."""
        index = self.address.removesuffix("profile")
        self._read(index, 5.0)

    def take(self, seconds: int) -> Stacks:
        """Have the server look at itself."""
        address = f"{self.address}?seconds={seconds}"
        return _seen(pprof.read(self._read(address, seconds + _SLACK_S)))

    def _read(self, address: str, patience_s: float) -> bytes:
        try:
            with urllib.request.urlopen(address, timeout=patience_s) as answer:  # noqa: S310
                found: bytes = answer.read()
        except (OSError, HTTPException, ValueError) as error:
            if isinstance(error, HTTPError):
                error.close()
            hint = 'import _ "net/http/pprof" and serve it, or name the process by its id'
            raise UsageError(f"--profile {address}: {error}", hint) from error
        return found


@dataclass(frozen=True, slots=True)
class PySpy:
    """py-spy, which reads a Python's memory from outside."""

    pid: int
    tool: str = "py-spy"

    def check(self) -> None:
        """Look for the program."""
        _found(self._path, "py-spy", "pip install py-spy")

    def take(self, seconds: int) -> Stacks:
        """Look from outside; the target does not know of it."""
        with TemporaryDirectory(prefix="torr-profile-") as folder:
            file = Path(folder) / "stacks.txt"
            options = ["-f", "raw", "-r", f"{HERTZ}", "-d", f"{seconds}", "-p", f"{self.pid}"]
            _called([self._path, "record", "--subprocesses", *options, "-o", str(file)], seconds)
            # A command line may have secrets, and lines of its own.
            return _seen(Stacks.folded(_COMMAND.sub(r"process \1;", _text(file))))

    @property
    def _path(self) -> str:
        """Beside the Python that runs torr, or wherever the shell finds it."""
        beside = Path(sys.executable).with_name("py-spy")
        return str(beside) if beside.exists() else "py-spy"


@dataclass(frozen=True, slots=True)
class Perf:
    """Linux's perf, for whatever is no Python."""

    pid: int
    tool: str = "perf"

    def check(self) -> None:
        """Look for the program."""
        _found("perf", "perf", "apt-get install linux-perf, or give the URL of a Go server's pprof")

    def take(self, seconds: int) -> Stacks:
        """Look from the kernel."""
        with TemporaryDirectory(prefix="torr-profile-") as folder:
            file = Path(folder) / "perf.data"
            options = ["-F", f"{HERTZ}", "-g", "-p", f"{self.pid}", "-o", str(file)]
            _called(["perf", "record", *options, "--", "sleep", f"{seconds}"], seconds)
            script = ["perf", "script", "-i", str(file)]
            return _seen(collapsed(_called(script, _SLACK_S)))


def collapsed(text: str) -> Stacks:
    """Read what `perf script` writes: of each sample a head, then frames from leaf to root."""
    weights: Counter[Stack] = Counter()
    for sample in re.split(r"\n\s*\n", text):
        head, *lines = sample.strip("\n").split("\n")
        frames = [found[1] for line in lines if (found := _FRAME.match(line))]
        if frames:
            stack = (head.split()[0], *reversed(frames))
            weights[stack] += 1
    return Stacks(weights, "samples")


def _seen(stacks: Stacks) -> Stacks:
    if not stacks.total:
        raise UsageError("the profiler saw nothing: the process was idle, or it ended")
    return stacks


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/exe").resolve(strict=True).name
    except OSError as error:
        hint = "name a process of yours that runs, or run torr as its user"
        raise UsageError(f"--profile {pid}: {error.strerror or error}", hint) from error


def _found(path: str, name: str, hint: str) -> None:
    if shutil.which(path) is None:
        raise UsageError(f"--profile needs {name}, which is not installed", hint)


def _called(command: list[str], seconds: float) -> str:
    """What a tool wrote; raises UsageError with its last words."""
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + _SLACK_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"{name} did not end in time") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        hint = "run torr as root, or with CAP_SYS_PTRACE (py-spy) or CAP_PERFMON (perf)"
        raise UsageError(f"{name}: {last}", hint)
    return done.stdout


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"there is no profile: {error.strerror or error}") from error
