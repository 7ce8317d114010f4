"""A control group for one server, so that the kernel kills all of it at once (cgroup.kill).

Made below the group of the caller, in version 2, where that can be written. Refused where the
group would share out processor time by itself: then a server of four processes would have the
weight of one, which is no fair trial. Imports next to nothing: the watcher uses it.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress

from torr.procfs.tree import read

_REMOVING_S = 1.0


def made(name: str) -> str:
    """Make a group, the path of it; raises OSError that says why there is none."""
    path = f"{_own()}/{name}"
    try:
        os.mkdir(path)
    except OSError as error:
        raise OSError(f"{path} cannot be made: {error.strerror}") from error
    if not os.path.exists(f"{path}/cgroup.kill"):
        remove(path)
        raise OSError("the kernel has no cgroup.kill (Linux 5.14)")
    if b"cpu" in read(f"{path}/cgroup.controllers").split():
        remove(path)
        raise OSError(f"groups below {_own()} share out processor time")
    return path


def enter(path: str) -> None:
    """Move the calling process into a group."""
    _write(f"{path}/cgroup.procs", b"0")


def members(path: str) -> list[int]:
    """The pids in a group."""
    return [int(word) for word in read(f"{path}/cgroup.procs").split()]


def kill(path: str) -> None:
    """Kill everything in a group, and what is being forked in it."""
    with suppress(OSError):
        _write(f"{path}/cgroup.kill", b"1")


def remove(path: str) -> None:
    """Remove a group, if nothing is left in it; who was just killed keeps it busy for a moment."""
    deadline = time.monotonic() + _REMOVING_S
    while _is_busy(path) and time.monotonic() < deadline:
        time.sleep(0.005)


def _is_busy(path: str) -> bool:
    """Whether a group could not be removed yet."""
    try:
        os.rmdir(path)
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


def _own() -> str:
    """The folder of the caller's group of version 2; raises OSError where there is none."""
    inside = next(
        (line[3:] for line in read("/proc/self/cgroup").splitlines() if line.startswith(b"0::")),
        None,
    )
    for line in read("/proc/self/mountinfo").splitlines():
        mount, _, kind = line.partition(b" - ")
        if kind.startswith(b"cgroup2 ") and inside is not None:
            return os.fsdecode(mount.split()[4] + inside).rstrip("/")
    raise OSError("no control groups of version 2 are mounted")


def _write(path: str, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, content)
    finally:
        os.close(file)
