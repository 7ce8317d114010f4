"""Linux's perf: where the time of any process goes, seen from the kernel."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from torr.profile.stacks import Stack, Stacks
from torr.profile.tools import HERTZ, SLACK_S, called, found, seen

_FRAME = re.compile(r"\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \(.*\)$")
_HINT = "apt-get install linux-perf, or give the URL of a Go server's pprof"


@dataclass(frozen=True, slots=True)
class Perf:
    """perf on processes, for whatever is no Python."""

    pids: tuple[int, ...]
    tool: str = "perf"
    kind: str = "cpu"

    def check(self) -> None:
        """Look for the program."""
        found("perf", "perf", _HINT)

    def take(self, seconds: int) -> Stacks:
        """Look from the kernel."""
        with TemporaryDirectory(prefix="torr-profile-") as folder:
            file = Path(folder) / "perf.data"
            whom = ",".join(map(str, self.pids))
            options = ["-F", f"{HERTZ}", "-g", "-p", whom, "-o", str(file)]
            called(["perf", "record", *options, "--", "sleep", f"{seconds}"], seconds)
            script = ["perf", "script", "-i", str(file)]
            return seen(collapsed(called(script, SLACK_S)))


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
