"""`torr target` as a target on a core of its own; one that delays writes down what it received."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

TORR = str(Path(sys.executable).with_name("torr"))


class Listener:
    """A running target; use it as a context, and read its arrivals when it has ended."""

    def __init__(self, core: int) -> None:
        self.core = core
        self.folder = tempfile.TemporaryDirectory(prefix="torr-target-")
        self.log = Path(self.folder.name) / "truth.csv"
        self.url = ""

    def __enter__(self) -> Self:
        core = self.core
        pinned: dict[str, Any] = {"preexec_fn": lambda: os.sched_setaffinity(0, {core})}
        command = [TORR, "target", *self.words()]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **pinned)
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line.startswith("listening on "):
            self.process.kill()
            message = f"the target said {line!r} instead of where it listens"
            raise RuntimeError(message)
        self.url = line.removeprefix("listening on ").split()[0]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        self.process.communicate(timeout=20)

    def words(self) -> list[str]:
        """Return its kind and options."""
        return ["delay", "--delay", "0s", "--log", str(self.log)]

    def served(self) -> int:
        """Return nothing: its log tells at the end."""
        return 0

    def cpu_s(self) -> float:
        """Processor time of all its threads so far, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def arrivals(self) -> list[int]:
        """When it received its requests, on the monotonic clock in ns, in order."""
        with self.log.open(newline="") as rows:
            stamps = sorted(int(row["received_ns"]) for row in csv.DictReader(rows))
        self.folder.cleanup()
        return stamps


class EchoListener(Listener):
    """A running `torr target grpc`."""

    def words(self) -> list[str]:
        """Return its kind."""
        return ["grpc"]


class MessageListener(Listener):
    """A running `torr target ws`."""

    def words(self) -> list[str]:
        """Return its kind."""
        return ["ws"]


def now_ns() -> int:
    """Return the clock of the target's stamps."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
