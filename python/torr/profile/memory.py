"""memray: which calls a Python's memory is allocated in.

What is seen is what was allocated while it looked and was still held when the most was held.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.profile.stacks import Stack, Stacks
from torr.profile.tools import SLACK_S, beside, called, found, seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOOL, KIND = "memray", "memory"

_HINT = "pip install memray, for torr and in the target's own Python"
_DEBUGGER = "apt-get install gdb, by which memray comes into a process that runs"
_NO_FRAMES = "(before any Python call)"


def check() -> None:
    """Raise UsageError where memray is not installed beside torr."""
    if find_spec("memray") is None:
        raise UsageError("--profile memory needs memray, which is not installed", _HINT)


@dataclass(frozen=True, slots=True)
class Memray:
    """memray, brought into a process that runs; its Python must have memray too."""

    pid: int
    tool: str = TOOL
    kind: str = KIND

    def check(self) -> None:
        """Look for memray and for the debugger that it takes."""
        check()
        found("gdb", "gdb", _DEBUGGER)

    def take(self, seconds: int) -> Stacks:
        """Have the process keep account of itself; it ends that alone if nobody asks it to."""
        with TemporaryDirectory(prefix="torr-profile-") as folder:
            file = Path(folder) / "memory.bin"
            memray, whom = beside("memray"), str(self.pid)
            limit = ["--duration", f"{seconds + round(SLACK_S)}"]
            called([memray, "attach", "--aggregate", *limit, "-o", str(file), whom], SLACK_S)
            time.sleep(seconds)
            called([memray, "detach", whom], SLACK_S)
            return seen(_read(file))


def took(work: Callable[[], object]) -> Stacks:
    """Return what a piece of work allocated in this process; raises UsageError."""
    check()
    import memray

    with TemporaryDirectory(prefix="torr-profile-") as folder:
        file = Path(folder) / "memory.bin"
        with _readable(), memray.Tracker(file, trace_python_allocators=True):
            work()
        return seen(_read(file))


def _read(file: Path) -> Stacks:
    """What was held when the most was held, in bytes by the stack that allocated it."""
    import memray

    weights: Counter[Stack] = Counter()
    with _readable(), memray.FileReader(file) as reader:
        for record in reader.get_high_watermark_allocation_records(merge_threads=True):
            frames = [_frame(*frame) for frame in reversed(record.stack_trace())]
            weights[tuple(frames) or (_NO_FRAMES,)] += record.size
    return Stacks(weights, "bytes")


def _frame(function: str, file: str, line: int) -> str:
    """A call as py-spy names it; `;` ends a frame in folded text."""
    return f"{function} ({Path(file).name}:{line})".replace(";", ",")


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise UsageError(f"memray: {error}", _HINT) from error
