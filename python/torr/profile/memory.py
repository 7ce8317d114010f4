"""Profile the memory of a Python process with memray: the calls that allocated it.

The profile has the allocations during its time that were still held at the high-water mark.
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
from torr.messages.message import message
from torr.procfs.process import environment_of
from torr.procfs.stat import is_running
from torr.profile.busiest import busiest
from torr.profile.hook import FOLDER, VARIABLE
from torr.profile.hook.sitecustomize import is_private
from torr.profile.stacks import Stack, Stacks
from torr.profile.tools import (
    SLACK_S,
    not_installed,
    read_output,
    require_samples,
    tool_failure,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torr.results.profile import ProfileKind

TOOL = "memray"

_HINT = message("hint.memray", "pip install memray, for torr and in the target's own Python")
_START = message(
    "hint.start_with_hook",
    "start it with {variable}=DIR PYTHONPATH=$(python -m torr.profile.hook)",
    variable=VARIABLE,
)
_POLL_S = 0.1
_NO_FRAMES = "(before any Python call)"


def check(flag: str = "--profile") -> None:
    """Raise UsageError if memray, which a flag needs, is not installed in torr's environment."""
    if find_spec("memray") is None:
        raise UsageError(not_installed(f"{flag} memory", TOOL), _HINT)


@dataclass(frozen=True, slots=True)
class Memray:
    """memray in a process that accepts requests: see `torr.profile.hook`.

    Of several processes it is the busiest one at the time of the request.
    """

    pids: tuple[int, ...]
    tool: str = TOOL
    kind: ProfileKind = "memory"
    _stopped: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    def check(self) -> None:
        """Raise UsageError if memray is missing, or no process waits for requests."""
        check()
        self._request_paths()

    def take(self, seconds: int) -> Stacks:
        """Request a profile of `seconds` from the busiest process, and wait for it."""
        paths = self._request_paths()
        pid = busiest(tuple(paths))
        path = paths[pid]
        answer, error = path.with_suffix(".bin"), path.with_suffix(".error")
        _write_request(path, seconds)
        deadline = time.monotonic() + seconds + SLACK_S
        while not (answer.exists() or error.exists()):
            if not environment_of(pid):
                raise UsageError(
                    message(
                        "profile.process_ended",
                        "process {pid} ended while torr profiled its memory",
                        pid=pid,
                    )
                )
            if time.monotonic() > deadline:
                raise UsageError(
                    message("profile.no_answer", "process {pid} did not answer in time", pid=pid)
                )
            if self._stopped.wait(_POLL_S):
                raise UsageError(
                    message("profile.stopped_asking", "torr stopped asking process {pid}", pid=pid)
                )
        if error.exists():
            raise UsageError(tool_failure(TOOL, read_output(error)), _HINT)
        return require_samples(_read(answer))

    def stop(self) -> None:
        """Stop waiting; the process records until the time is over."""
        self._stopped.set()

    def is_gone(self) -> bool:
        """Return whether the first process, the ancestor of the others, has ended."""
        return not is_running(self.pids[0])

    def _request_paths(self) -> dict[int, Path]:
        """Return the paths of requests by pid, without suffix, of processes that accept them."""
        paths = {pid: path for pid in self.pids if (path := _request_path(pid)) is not None}
        if not paths:
            known = ", ".join(map(str, self.pids))
            if len(self.pids) == 1:
                text = message(
                    "profile.no_hook", "process {pid} does not report its memory", pid=known
                )
                raise UsageError(text, _START)
            text = message(
                "profile.no_hooks",
                "none of the processes {pids} reports its memory",
                pids=known,
            )
            raise UsageError(text, _START)
        return paths


def _request_path(pid: int) -> Path | None:
    """Return the path of requests to a process, without suffix; None if it accepts none.

    Raises UsageError if other users can write to the folder.
    """
    folder = environment_of(pid).get(VARIABLE)
    if not folder or not Path(folder).exists():
        return None
    if not is_private(folder):
        raise UsageError(
            message(
                "profile.shared_folder",
                "{variable}={folder} of process {pid} is not used: it is not a directory that"
                " belongs to you alone",
                variable=VARIABLE,
                folder=folder,
                pid=pid,
            ),
            message(
                "hint.shared_folder",
                "start the process as the user who runs torr, with a folder that does not exist yet"
                " or that has mode 700",
            ),
        )
    return Path(folder, f"{pid}") if Path(folder, f"{pid}.here").exists() else None


def _write_request(path: Path, seconds: int) -> None:
    """Write a request for a profile, after removing earlier answers."""
    try:
        for old in (".bin", ".error"):
            path.with_suffix(old).unlink(missing_ok=True)
        part = path.with_suffix(".asked")
        part.write_text(f"{seconds}", encoding="utf-8")
        part.replace(path.with_suffix(".ask"))
    except OSError as error:
        text = message(
            "profile.not_written",
            "{path}: cannot be written: {error}",
            path=str(path),
            error=error.strerror or str(error),
        )
        raise UsageError(text, _START) from error


def hook_environment(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the variables with which a server accepts requests in a folder."""
    paths = [str(FOLDER), environment.get("PYTHONPATH") or os.environ.get("PYTHONPATH")]
    return {VARIABLE: str(folder), "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def profile_memory(work: Callable[[], object]) -> Stacks:
    """Call `work` and return its allocations in this process; raise UsageError on failure."""
    check("--torr-profile")
    import memray

    with TemporaryDirectory(prefix="torr-profile-") as folder:
        file = Path(folder) / "memory.bin"
        with _memray_errors(), memray.Tracker(file, trace_python_allocators=True):
            work()
        return require_samples(_read(file))


def _read(file: Path) -> Stacks:
    """Return the memory held at the high-water mark, in bytes by allocating stack."""
    import memray

    weights: Counter[Stack] = Counter()
    with _memray_errors(), memray.FileReader(file) as reader:
        for record in reader.get_high_watermark_allocation_records(merge_threads=True):
            frames = [_frame(*frame) for frame in reversed(record.stack_trace())]
            weights[tuple(frames) or (_NO_FRAMES,)] += record.size
    return Stacks(weights, "bytes")


def _frame(function: str, file: str, line: int) -> str:
    """Return the name of a frame in py-spy's format."""
    return f"{function} ({Path(file).name}:{line})"


@contextmanager
def _memray_errors() -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise UsageError(tool_failure(TOOL, str(error)), _HINT) from error
