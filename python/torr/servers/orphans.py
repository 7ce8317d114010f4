"""What is left of a server when its watcher was killed: found by its marks, and killed.

Without the watcher nobody adopts what forked away, so the tree is not whole any more. The marks
are a variable in the environment, the session, and the control group where there is one. Nothing
is ever found by its name, and a session is more than its number, which the kernel gives again.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import NamedTuple

from torr.procfs.cgroup import members
from torr.procfs.process import command_of, environment_of
from torr.procfs.stat import ProcessStat, pids, process_stat
from torr.servers import cgroup

MARK = "TORR_SERVER"
"""The variable that every process of a server has, unless it wiped its environment."""

_KILLING_S = 5.0


class ProcessSession(NamedTuple):
    """The session that a server's first process made: its pid, and when that process started.

    `start` is in ticks since the machine was started; None where that process had ended before
    anybody looked: then nothing is known by its session.
    """

    leader: int
    start: int | None

    @classmethod
    def of(cls, leader: int) -> ProcessSession:
        """Return the session of a process that runs."""
        return cls(leader, _start_of(leader))

    def has(self, process: ProcessStat) -> bool:
        """Whether a process belongs to it.

        While a process is in it the kernel gives its number to no other, so the number is
        conclusive where its leader is the same one, or has ended after its members began.
        """
        if self.start is None or process.session != self.leader:
            return False
        return _start_of(self.leader) in {self.start, None} and process.started >= self.start


def killed(token: str, session: ProcessSession | None, group: str | None) -> dict[int, str]:
    """Kill all that bears the marks, until none of it runs; their pids and commands."""
    found: dict[int, str] = {}
    started: dict[int, int | None] = {}
    deadline = time.monotonic() + _KILLING_S
    while time.monotonic() < deadline:
        if group is not None:
            cgroup.kill(group)
        marked = remaining(token, session, group)
        # Who is killed loses its environment, and with it the mark, before it closes its files.
        if not marked and not any(map(_is_same, started, started.values())):
            break
        found |= {pid: command_of(pid) for pid in marked if pid not in found}
        for pid in marked:
            started[pid] = _start_of(pid)
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    if group is not None:
        cgroup.remove(group)
    return found


def remaining(token: str, session: ProcessSession | None, group: str | None) -> list[int]:
    """The pids of what bears the marks and still runs."""
    inside = members(group) if group is not None else []
    return [pid for pid in pids() if pid in inside or _is_marked(pid, token, session)]


def _is_marked(pid: int, token: str, session: ProcessSession | None) -> bool:
    found = process_stat(pid)
    if found is None or not found.is_running or pid == os.getpid():
        return False
    if session is not None and session.has(found):
        return True
    return environment_of(pid).get(MARK) == token


def _is_same(pid: int, started: int | None) -> bool:
    """Whether the process that was started then still runs, and none that has its pid by now."""
    found = process_stat(pid)
    return found is not None and found.is_running and found.started == started


def _start_of(pid: int) -> int | None:
    found = process_stat(pid)
    return None if found is None else found.started
