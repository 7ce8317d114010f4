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

from torr.procfs.cgroup import controllers, own_folder

_REMOVING_S = 1.0


def made(name: str) -> str:
    """Make a group, the path of it; raises OSError that says why there is none."""
    own = own_folder()
    if own is None:
        raise OSError("no control groups of version 2 are mounted")
    path = f"{own}/{name}"
    try:
        os.mkdir(path)
    except OSError as error:
        raise OSError(f"{path} cannot be made: {error.strerror}") from error
    if not os.path.exists(f"{path}/cgroup.kill"):
        remove(path)
        raise OSError("the kernel has no cgroup.kill (Linux 5.14)")
    if "cpu" in controllers(path):
        remove(path)
        raise OSError(f"groups below {own} share out processor time")
    return path


def enter(path: str) -> None:
    """Move the calling process into a group."""
    _write(f"{path}/cgroup.procs", b"0")


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


def _write(path: str, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, content)
    finally:
        os.close(file)
