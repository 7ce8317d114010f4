"""Create a control group (version 2) for one server, so that the kernel can kill it at once.

The group is below that of the caller, where that is writable. It is refused where the cpu
controller is on: then a server of four processes would get the processor time of one, which is not
a fair trial. The watcher uses this module, so it imports little.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress

from torr.procfs.cgroup import controllers, own_folder

_REMOVING_S = 1.0


def create(name: str) -> str:
    """Create a group and return its path; raise OSError with the reason why there is none."""
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
    """Kill all processes in a group, and those being forked in it."""
    with suppress(OSError):
        _write(f"{path}/cgroup.kill", b"1")


def remove(path: str) -> None:
    """Remove a group if it is empty; a process that was just killed keeps it busy for a moment."""
    deadline = time.monotonic() + _REMOVING_S
    while _is_busy(path) and time.monotonic() < deadline:
        time.sleep(0.005)


def _is_busy(path: str) -> bool:
    """Try to remove a group; return whether it still has processes."""
    try:
        os.rmdir(path)
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


def _write(path: str, content: bytes) -> None:
    with open(path, "wb", buffering=0) as file:
        file.write(content)
