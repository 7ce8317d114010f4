"""memray: which calls a Python's memory is allocated in.

What is seen is what was allocated while it looked and was still held when the most was held.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.procfs.process import environment_of
from torr.procfs.stat import is_running
from torr.profile.busiest import busiest
from torr.profile.hook import FOLDER, VARIABLE
from torr.profile.hook.sitecustomize import is_private
from torr.profile.stacks import Stack, Stacks
from torr.profile.tools import SLACK_S, seen, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torr.results.profile import ProfileKind

TOOL = "memray"

_HINT = "pip install memray, for torr and in the target's own Python"
_START = f"start it with {VARIABLE}=DIR PYTHONPATH=$(python -m torr.profile.hook)"
_LOOK_S = 0.1
_NO_FRAMES = "(before any Python call)"


def check(flag: str = "--profile") -> None:
    """Raise UsageError where memray, which a flag needs, is not installed beside torr."""
    if find_spec("memray") is None:
        raise UsageError(f"{flag} memory needs memray, which is not installed", _HINT)


@dataclass(frozen=True, slots=True)
class Memray:
    """memray in a process that was started so that it can be asked: see `torr.profile.hook`.

    Of several it is the one that works most when it is asked.
    """

    pids: tuple[int, ...]
    tool: str = TOOL
    kind: ProfileKind = "memory"
    _over: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    def check(self) -> None:
        """Look for memray, and for the folder in which a process waits to be asked."""
        check()
        self._askable()

    def take(self, seconds: int) -> Stacks:
        """Have the process keep account of itself."""
        places = self._askable()
        pid = busiest(tuple(places))
        place = places[pid]
        answer, error = place.with_suffix(".bin"), place.with_suffix(".error")
        _ask(place, seconds)
        deadline = time.monotonic() + seconds + SLACK_S
        while not (answer.exists() or error.exists()):
            if not environment_of(pid):
                raise UsageError(f"process {pid} ended while its memory was looked at")
            if time.monotonic() > deadline:
                raise UsageError(f"process {pid} did not answer in time")
            if self._over.wait(_LOOK_S):
                raise UsageError(f"process {pid} was asked no longer")
        if error.exists():
            raise UsageError(f"memray: {text_of(error)}", _HINT)
        return seen(_read(answer))

    def stop(self) -> None:
        """Wait no longer; the process keeps account of itself until the time is over."""
        self._over.set()

    def is_gone(self) -> bool:
        """Whether the first process, which is above the others, has ended."""
        return not is_running(self.pids[0])

    def _askable(self) -> dict[int, Path]:
        """Where questions to each process lie, without their ending."""
        found = {pid: place for pid in self.pids if (place := _place(pid)) is not None}
        if not found:
            known = ", ".join(map(str, self.pids))
            if len(self.pids) == 1:
                raise UsageError(f"process {known} cannot be asked for its memory", _START)
            raise UsageError(f"none of the processes {known} can be asked for its memory", _START)
        return found


def _place(pid: int) -> Path | None:
    """Where questions to a process lie; None where it waits for none.

    Raises UsageError where others could have laid something there.
    """
    folder = environment_of(pid).get(VARIABLE)
    if not folder or not Path(folder).exists():
        return None
    if not is_private(folder):
        raise UsageError(
            f"{VARIABLE}={folder} of process {pid} is not used: it is not a directory that belongs"
            " to you alone",
            "start the process as the user who runs torr, with a folder that does not exist yet or"
            " that has mode 700",
        )
    return Path(folder, f"{pid}") if Path(folder, f"{pid}.here").exists() else None


def _ask(place: Path, seconds: int) -> None:
    """Lay the question where the process looks for it, and no answer of before."""
    try:
        for old in (".bin", ".error"):
            place.with_suffix(old).unlink(missing_ok=True)
        asked = place.with_suffix(".asked")
        asked.write_text(f"{seconds}", encoding="utf-8")
        asked.replace(place.with_suffix(".ask"))
    except OSError as error:
        raise UsageError(
            f"{place}: cannot be written: {error.strerror or error}", _START
        ) from error


def asking(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return what to add to the environment of a server that shall be asked by way of a folder."""
    paths = [str(FOLDER), environment.get("PYTHONPATH") or os.environ.get("PYTHONPATH")]
    return {VARIABLE: str(folder), "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def took(work: Callable[[], object]) -> Stacks:
    """Return what a piece of work allocated in this process; raises UsageError."""
    check("--torr-profile")
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
    """A call as py-spy names it."""
    return f"{function} ({Path(file).name}:{line})"


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise UsageError(f"memray: {error}", _HINT) from error
