"""Profile the CPU time of any processes with Linux's perf."""

from __future__ import annotations

import re
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from torr.messages.message import message
from torr.procfs.stat import is_running
from torr.profile.stacks import Stack, Stacks
from torr.profile.tools import HERTZ, SLACK_S, Program, check_installed, require_samples

if TYPE_CHECKING:
    from torr.results.profile import ProfileKind

# An address, a name and the file that it is in, which may be `(server (deleted))`. Names of C++ and
# Rust have blanks and brackets of their own; an offset, where there is one, ends them for sure.
_FILE = r"\((?:[^()]|\([^()]*\))*\)"
_FRAME = re.compile(rf"\s+[0-9a-f]+ (?:(.+)\+0x[0-9a-f]+ \(.*\)|(.+) {_FILE})$")
# When all profiled processes have ended, perf ends its `sleep` by SIGTERM, and then itself.
_END_CODES = (-signal.SIGTERM, 128 + signal.SIGTERM)
_HINT = message("hint.perf", "apt-get install linux-perf, or give the URL of a Go server's pprof")


@dataclass(frozen=True, slots=True)
class Perf:
    """perf on processes other than Python's."""

    pids: tuple[int, ...]
    tool: str = "perf"
    kind: ProfileKind = "cpu"
    _program: Program = field(default_factory=Program, compare=False, repr=False)

    def check(self) -> None:
        """Raise UsageError if perf is not installed."""
        check_installed("perf", "perf", _HINT)

    def take(self, seconds: int) -> Stacks:
        """Record for `seconds` and return the stacks."""
        with TemporaryDirectory(prefix="torr-profile-") as folder:
            file = Path(folder) / "perf.data"
            pids = ",".join(map(str, self.pids))
            options = ["-F", f"{HERTZ}", "-g", "-p", pids, "-o", str(file)]
            record = ["perf", "record", *options, "--", "sleep", f"{seconds}"]
            self._program.run(record, seconds, *_END_CODES)
            script = ["perf", "script", "-i", str(file)]
            return require_samples(parse_perf_script(self._program.run(script, SLACK_S)))

    def stop(self) -> None:
        """Stop recording."""
        self._program.stop()

    def is_gone(self) -> bool:
        """Return whether the first process, the ancestor of the others, has ended."""
        return not is_running(self.pids[0])


def parse_perf_script(text: str) -> Stacks:
    """Parse the output of `perf script`: samples of a header and frames from leaf to root."""
    weights: Counter[Stack] = Counter()
    for sample in re.split(r"\n\s*\n", text):
        head, *lines = sample.strip("\n").split("\n")
        frames = [match[1] or match[2] for line in lines if (match := _FRAME.match(line))]
        if frames:
            stack = (head.split()[0], *reversed(frames))
            weights[stack] += 1
    return Stacks(weights, "samples")
