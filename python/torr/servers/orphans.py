"""Kill the processes of a server whose watcher was killed; they are identified by marks.

Without the watcher no process adopts the server's orphans, so its tree is incomplete. The marks
are an environment variable, the session, and the control group where there is one. No process is
identified by its name. The kernel reuses session numbers, so a session is identified by its number
and the start of its leader.
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
    its start was read: then no process is identified by the session.
    """

    leader: int
    start: int | None

    @classmethod
    def of(cls, leader: int) -> ProcessSession:
        """Return the session of a process that runs."""
        return cls(leader, _start_ticks(leader))

    def has(self, process: ProcessStat) -> bool:
        """Return whether a process belongs to the session.

        While a process is in a session, the kernel gives its number to no other one. So the number
        is conclusive if the leader is the same process, or if it ended after its members started.
        """
        if self.start is None or process.session != self.leader:
            return False
        return _start_ticks(self.leader) in {self.start, None} and process.started >= self.start


def kill_marked(token: str, session: ProcessSession | None, group: str | None) -> dict[int, str]:
    """Kill the marked processes until none of them runs; return their pids and commands."""
    commands: dict[int, str] = {}
    started: dict[int, int | None] = {}
    deadline = time.monotonic() + _KILLING_S
    while time.monotonic() < deadline:
        if group is not None:
            cgroup.kill(group)
        marked = marked_pids(token, session, group)
        # A killed process loses its environment, and with it the mark, before it closes its files.
        if not marked and not any(map(_still_runs, started, started.values())):
            break
        commands |= {pid: command_of(pid) for pid in marked if pid not in commands}
        for pid in marked:
            started[pid] = _start_ticks(pid)
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    if group is not None:
        cgroup.remove(group)
    return commands


def marked_pids(token: str, session: ProcessSession | None, group: str | None) -> list[int]:
    """Return the pids of the running processes that have one of the marks."""
    inside = members(group) if group is not None else []
    return [pid for pid in pids() if pid in inside or _is_marked(pid, token, session)]


def _is_marked(pid: int, token: str, session: ProcessSession | None) -> bool:
    stat = process_stat(pid)
    if stat is None or not stat.is_running or pid == os.getpid():
        return False
    if session is not None and session.has(stat):
        return True
    return environment_of(pid).get(MARK) == token


def _still_runs(pid: int, started: int | None) -> bool:
    """Return whether the pid still belongs to the process that was started then."""
    stat = process_stat(pid)
    return stat is not None and stat.is_running and stat.started == started


def _start_ticks(pid: int) -> int | None:
    stat = process_stat(pid)
    return None if stat is None else stat.started
