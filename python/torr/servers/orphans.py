"""What is left of a server when its watcher was killed: found by its marks, and killed.

Without the watcher nobody adopts what forked away, so the tree is not whole any more. The marks
are a variable in the environment, the session, and the control group where there is one. Nothing
is ever found by its name.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from torr.servers import cgroup, tree

MARK = "TORR_SERVER"
"""The variable that every process of a server has, unless it wiped its environment."""

_KILLING_S = 5.0


def killed(token: str, session: int | None, group: str | None) -> dict[int, str]:
    """Kill all that bears the marks, until none of it runs; their pids and commands."""
    found: dict[int, str] = {}
    started: dict[int, str | None] = {}
    deadline = time.monotonic() + _KILLING_S
    while time.monotonic() < deadline:
        if group is not None:
            cgroup.kill(group)
        marked = remaining(token, session, group)
        # Who is killed loses its environment, and with it the mark, before it closes its files.
        if not marked and not any(map(_is_same, started, started.values())):
            break
        found |= {pid: tree.command_of(pid) for pid in marked if pid not in found}
        for pid in marked:
            started[pid] = tree.start_of(pid)
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    if group is not None:
        cgroup.remove(group)
    return found


def remaining(token: str, session: int | None, group: str | None) -> list[int]:
    """The pids of what bears the marks and still runs."""
    inside = cgroup.members(group) if group is not None else []
    mark = f"{MARK}={token}".encode()
    return [pid for pid in tree.pids() if pid in inside or _is_marked(pid, mark, session)]


def _is_marked(pid: int, mark: bytes, session: int | None) -> bool:
    found = tree.stat(pid)
    if found is None or found[0] in {"Z", "X"} or pid == os.getpid():
        return False
    if session is not None and int(found[3]) == session:
        return True
    return mark in tree.read(f"/proc/{pid}/environ").split(b"\0")


def _is_same(pid: int, started: str | None) -> bool:
    """Whether the process that was started then still runs, and none that has its pid by now."""
    return tree.is_running(pid) and tree.start_of(pid) == started
