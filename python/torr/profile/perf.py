"""Linux's perf: where the time of any process goes, seen from the kernel."""

from __future__ import annotations

import re
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from torr.procfs.stat import is_running
from torr.profile.stacks import Stack, Stacks
from torr.profile.tools import HERTZ, SLACK_S, Program, found, seen

if TYPE_CHECKING:
    from torr.results.profile import ProfileKind

# An address, a name and the file that it is in, which may be `(server (deleted))`. Names of C++ and
# Rust have blanks and brackets of their own; an offset, where there is one, ends them for sure.
_FILE = r"\((?:[^()]|\([^()]*\))*\)"
_FRAME = re.compile(rf"\s+[0-9a-f]+ (?:(.+)\+0x[0-9a-f]+ \(.*\)|(.+) {_FILE})$")
# When all that it looks at has ended it ends its own `sleep`, and goes the same way.
_OVER = (-signal.SIGTERM, 128 + signal.SIGTERM)
_HINT = "apt-get install linux-perf, or give the URL of a Go server's pprof"


@dataclass(frozen=True, slots=True)
class Perf:
    """perf on processes, for whatever is no Python."""

    pids: tuple[int, ...]
    tool: str = "perf"
    kind: ProfileKind = "cpu"
    _program: Program = field(default_factory=Program, compare=False, repr=False)

    def check(self) -> None:
        """Look for the program."""
        found("perf", "perf", _HINT)

    def take(self, seconds: int) -> Stacks:
        """Look from the kernel."""
        with TemporaryDirectory(prefix="torr-profile-") as folder:
            file = Path(folder) / "perf.data"
            whom = ",".join(map(str, self.pids))
            options = ["-F", f"{HERTZ}", "-g", "-p", whom, "-o", str(file)]
            record = ["perf", "record", *options, "--", "sleep", f"{seconds}"]
            self._program.called(record, seconds, *_OVER)
            script = ["perf", "script", "-i", str(file)]
            return seen(collapsed(self._program.called(script, SLACK_S)))

    def stop(self) -> None:
        """Look no longer."""
        self._program.stop()

    def is_gone(self) -> bool:
        """Whether the first process, which is above the others, has ended."""
        return not is_running(self.pids[0])


def collapsed(text: str) -> Stacks:
    """Read what `perf script` writes: of each sample a head, then frames from leaf to root."""
    weights: Counter[Stack] = Counter()
    for sample in re.split(r"\n\s*\n", text):
        head, *lines = sample.strip("\n").split("\n")
        frames = [found[1] or found[2] for line in lines if (found := _FRAME.match(line))]
        if frames:
            stack = (head.split()[0], *reversed(frames))
            weights[stack] += 1
    return Stacks(weights, "samples")
