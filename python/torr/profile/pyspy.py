"""py-spy: where a Python's time goes, read from its memory from outside."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from torr.procfs.stat import is_running
from torr.profile.stacks import Stacks
from torr.profile.tools import HERTZ, Program, beside, found, seen, text_of

if TYPE_CHECKING:
    from torr.results.profile import ProfileKind

_PROCESS = re.compile(r'^process \d+:".*?";', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class PySpy:
    """py-spy on a process and its children, `hertz` looks a second."""

    pid: int
    hertz: int = HERTZ
    tool: str = "py-spy"
    kind: ProfileKind = "cpu"
    _program: Program = field(default_factory=Program, compare=False, repr=False)

    def check(self, flag: str = "--profile") -> None:
        """Look for the program that a flag needs."""
        found(beside("py-spy"), "py-spy", "pip install py-spy", flag)

    def take(self, seconds: int) -> Stacks:
        """Look from outside; the target does not know of it."""
        with TemporaryDirectory(prefix="torr-profile-") as folder:
            file = Path(folder) / "stacks.txt"
            options = ["-f", "raw", "-r", f"{self.hertz}", "-d", f"{seconds}", "-p", f"{self.pid}"]
            record = [beside("py-spy"), "record", "--subprocesses", *options, "-o", str(file)]
            self._program.called(record, seconds)
            # A command line may have secrets and lines of its own, and no process of another run
            # has the same id: what processes do is told together.
            return seen(Stacks.folded(_PROCESS.sub("", text_of(file))))

    def stop(self) -> None:
        """Look no longer."""
        self._program.stop()

    def is_gone(self) -> bool:
        """Whether the process has ended."""
        return not is_running(self.pid)
