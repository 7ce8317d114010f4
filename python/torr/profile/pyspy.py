"""Profile the CPU time of a Python process with py-spy."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from torr.procfs.stat import is_running
from torr.profile.stacks import Stacks
from torr.profile.tools import (
    HERTZ,
    Program,
    check_installed,
    program_path,
    read_output,
    require_samples,
)

if TYPE_CHECKING:
    from torr.results.profile import ProfileKind

_PROCESS = re.compile(r'^process \d+:".*?";', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class PySpy:
    """py-spy on a process and its children, with `hertz` samples per second."""

    pid: int
    hertz: int = HERTZ
    tool: str = "py-spy"
    kind: ProfileKind = "cpu"
    _program: Program = field(default_factory=Program, compare=False, repr=False)

    def check(self, flag: str = "--profile") -> None:
        """Raise UsageError if py-spy, which a flag needs, is not installed."""
        check_installed(program_path("py-spy"), "py-spy", "pip install py-spy", flag)

    def take(self, seconds: int) -> Stacks:
        """Record for `seconds` and return the stacks."""
        with TemporaryDirectory(prefix="torr-profile-") as folder:
            file = Path(folder) / "stacks.txt"
            options = ["-f", "raw", "-r", f"{self.hertz}", "-d", f"{seconds}", "-p", f"{self.pid}"]
            record = [program_path("py-spy"), "record", "--subprocesses", *options, "-o", str(file)]
            self._program.run(record, seconds)
            # Without the frames of processes: command lines may have secrets and line breaks, and
            # pids differ from run to run.
            return require_samples(Stacks.folded(_PROCESS.sub("", read_output(file))))

    def stop(self) -> None:
        """Stop recording."""
        self._program.stop()

    def is_gone(self) -> bool:
        """Return whether the process has ended."""
        return not is_running(self.pid)
