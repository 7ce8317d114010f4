"""memray: which calls a Python's memory is allocated in.

What is seen is what was allocated while it looked and was still held when the most was held.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.profile.hook import FOLDER, VARIABLE
from torr.profile.stacks import Stack, Stacks
from torr.profile.tools import SLACK_S, seen, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

TOOL, KIND = "memray", "memory"

_HINT = "pip install memray, for torr and in the target's own Python"
_START = f"start it with {VARIABLE}=DIR PYTHONPATH=$(python -m torr.profile.hook)"
_LOOK_S = 0.1
_NO_FRAMES = "(before any Python call)"


def check() -> None:
    """Raise UsageError where memray is not installed beside torr."""
    if find_spec("memray") is None:
        raise UsageError("--profile memory needs memray, which is not installed", _HINT)


@dataclass(frozen=True, slots=True)
class Memray:
    """memray in a process that was started so that it can be asked: see `torr.profile.hook`."""

    pid: int
    tool: str = TOOL
    kind: str = KIND

    def check(self) -> None:
        """Look for memray, and for the folder in which the process waits to be asked."""
        check()
        self._place()

    def take(self, seconds: int) -> Stacks:
        """Have the process keep account of itself."""
        place = self._place()
        answer, error = place.with_suffix(".bin"), place.with_suffix(".error")
        for old in (answer, error):
            old.unlink(missing_ok=True)
        asked = place.with_suffix(".asked")
        asked.write_text(f"{seconds}", encoding="utf-8")
        asked.replace(place.with_suffix(".ask"))
        deadline = time.monotonic() + seconds + SLACK_S
        while not (answer.exists() or error.exists()):
            if not _environment(self.pid):
                raise UsageError(f"process {self.pid} ended while its memory was looked at")
            if time.monotonic() > deadline:
                raise UsageError(f"process {self.pid} did not answer in time")
            time.sleep(_LOOK_S)
        if error.exists():
            raise UsageError(f"memray: {text_of(error)}", _HINT)
        return seen(_read(answer))

    def _place(self) -> Path:
        """Where questions to the process lie, without their ending."""
        folder = _environment(self.pid).get(VARIABLE)
        if not folder or not Path(folder, f"{self.pid}.here").exists():
            raise UsageError(f"process {self.pid} cannot be asked for its memory", _START)
        return Path(folder, f"{self.pid}")


def asking(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return what to add to the environment of a server that shall be asked by way of a folder."""
    paths = [str(FOLDER), environment.get("PYTHONPATH") or os.environ.get("PYTHONPATH")]
    return {VARIABLE: str(folder), "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def took(work: Callable[[], object]) -> Stacks:
    """Return what a piece of work allocated in this process; raises UsageError."""
    check()
    import memray

    with TemporaryDirectory(prefix="torr-profile-") as folder:
        file = Path(folder) / "memory.bin"
        with _readable(), memray.Tracker(file, trace_python_allocators=True):
            work()
        return seen(_read(file))


def _environment(pid: int) -> dict[str, str]:
    """What a process was started with; nothing where that is not to be read."""
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    pairs = (entry.decode("utf-8", "replace").partition("=") for entry in entries)
    return {name: value for name, _, value in pairs}


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
