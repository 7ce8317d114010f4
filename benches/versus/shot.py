"""One run of one tool on the client's core: what it did, and what that cost it and the target."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from versus.places import in_use, program, without
from versus.reading import UnreadableError

if TYPE_CHECKING:
    from versus.load import Load
    from versus.tools import Tool

CLIENT_CORE = 0
TIMEOUT_S = 300


class Target(Protocol):
    """What is fired at, and its own count."""

    def served(self) -> int:
        """Return the requests that it has answered so far; 0 if it does not count them."""

    def cpu_s(self) -> float:
        """Return its processor time so far."""


@dataclass(frozen=True)
class Ended:
    """A command that is over."""

    output: str
    cpu_s: float
    max_rss_bytes: int
    wall_s: float


@dataclass(frozen=True)
class Shot:
    """What one run did. `requests` are the target's count, but for tools with a window."""

    tool: str
    command: str
    requests: int
    seconds: float
    failed: int
    cpu_s: float
    process_cpu_s: float
    target_requests: int
    target_cpu_s: float
    output: str
    wall_s: float

    @property
    def cpu_us(self) -> float:
        """Client processor time per request, in µs."""
        return self.cpu_s * 1e6 / max(self.requests, 1)

    @property
    def per_s(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    @property
    def client_core(self) -> float:
        """The share of its core that the tool used."""
        return self.cpu_s / self.seconds

    @property
    def target_core(self) -> float:
        """The same of the target: what a request cost it, times their rate.

        If it does not count requests, its share of the core over the whole command.
        """
        if not self.target_requests:
            return self.target_cpu_s / self.wall_s
        return self.target_cpu_s / self.target_requests * self.per_s

    def kept(self, number: int) -> dict[str, Any]:
        """Return what a run keeps of it; the raw output of the first round only."""
        raw = {"output": self.output} if number == 0 else {}
        return {
            "round": number,
            "tool": self.tool,
            "command": self.command,
            "requests": self.requests,
            "seconds": self.seconds,
            "failed": self.failed,
            "cpu_s": self.cpu_s,
            "process_cpu_s": self.process_cpu_s,
            "target_requests": self.target_requests,
            "target_cpu_s": self.target_cpu_s,
            "cpu_us": self.cpu_us,
            "per_s": self.per_s,
            "client_core": self.client_core,
            "target_core": self.target_core,
            **raw,
        }


def fire(tool: Tool, load: Load, target: Target) -> Shot:
    """Runs a tool against the target."""
    command = tool.command(load)
    served, busy = target.served(), target.cpu_s()
    ended = spend(command, stdin=tool.stdin(load) if tool.stdin else "")
    target_cpu_s, target_requests = target.cpu_s() - busy, target.served() - served
    output = spend(tool.then(load)).output if tool.then else ended.output
    said = tool.read(output)
    # A tool that measures its own window has left its start and its warm-up out of it.
    windowed = said.cpu_s is not None or target_requests == 0
    return Shot(
        tool=tool.name,
        command=in_use(command),
        requests=said.requests if windowed else target_requests,
        seconds=said.seconds,
        failed=said.failed,
        cpu_s=ended.cpu_s if said.cpu_s is None else said.cpu_s,
        process_cpu_s=ended.cpu_s,
        target_requests=target_requests,
        target_cpu_s=target_cpu_s,
        output=without(_brief(output)),
        wall_s=ended.wall_s,
    )


def attempt(tool: Tool, load: Load, target: Target, absent: dict[str, str]) -> Shot | None:
    """Fires; a tool that fails is left out from then on, and a comparison goes on without it."""
    try:
        return fire(tool, load, target)
    except (RuntimeError, UnreadableError) as error:
        # Without torr there is nothing to compare.
        if tool.program == "torr":
            raise
        absent[tool.name] = without(" ".join(str(error).split()))[:300]
        return None


def spend(command: list[str], stdin: str = "", core: int = CLIENT_CORE) -> Ended:
    """Runs a command on one core; its output, and what it used (of wait4, so of it alone)."""
    words = [program(command[0]) or command[0], *command[1:]]
    pinned: dict[str, Any] = {"preexec_fn": lambda: os.sched_setaffinity(0, {core})}
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as wrong:
        started = time.monotonic()
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, stdin=pipe, stdout=said, stderr=wrong, **pinned)
        watch = threading.Timer(TIMEOUT_S, process.kill)
        watch.start()
        try:
            if process.stdin:
                process.stdin.write(stdin.encode())
                process.stdin.close()
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            watch.cancel()
        wall_s = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        wrong.seek(0)
        output, error = said.read().decode(), wrong.read().decode()
    if process.returncode != 0:
        message = f"{in_use(command)} ended with {process.returncode}:\n{error}{output[-2000:]}"
        raise RuntimeError(message)
    cpu_s = usage.ru_utime + usage.ru_stime
    return Ended(output, cpu_s, usage.ru_maxrss * 1024, wall_s)


def _brief(output: str) -> str:
    """Torr's whole result is long; what a reader would check is at its beginning and in a level."""
    import json

    try:
        level = json.loads(output)["levels"][0]
    except (json.JSONDecodeError, KeyError, TypeError):
        return output[:4000]
    for heavy in ("histograms", "intervals", "requests"):
        level.pop(heavy, None)
    return json.dumps(level)
