"""/proc/PID/stat: state, parent, session, times and memory of a process (proc(5))."""

from __future__ import annotations

import os
from typing import NamedTuple

from torr.procfs.files import Root, numbered, read

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ENDED = (b"Z", b"X")


class ProcessStat(NamedTuple):
    """One reading of a process; `started` tells it from a later one that has its number.

    `started` is in ticks since the machine was started. `cpu` is the time that the process used,
    `waited` that of the ended children that it waited for, in ticks. A process that has ended and
    that was not waited for does not run (`is_running`).
    """

    pid: int
    is_running: bool
    parent: int
    session: int
    started: int
    cpu: int = 0
    waited: int = 0
    threads: int = 1
    rss_bytes: int = 0

    @property
    def key(self) -> tuple[int, int]:
        """Return an identity that is unique even if the pid is reused."""
        return self.pid, self.started

    @property
    def all_cpu(self) -> int:
        """Return its CPU time and that of its ended children, in ticks."""
        return self.cpu + self.waited


def process_stat(pid: int, root: Root = "") -> ProcessStat | None:
    """Return a reading of a process; None where it does not exist."""
    # Its name, in parentheses, may contain anything.
    fields = read(f"{root}/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) < 22:
        return None
    return ProcessStat(
        pid,
        fields[0] not in _ENDED,
        int(fields[1]),
        int(fields[3]),
        int(fields[19]),
        int(fields[11]) + int(fields[12]),
        int(fields[13]) + int(fields[14]),
        int(fields[17]),
        int(fields[21]) * _PAGE_BYTES,
    )


def pids(root: Root = "") -> list[int]:
    """Return the numbers of all processes that this one can see."""
    return numbered(f"{root}/proc")


def is_running(pid: int, root: Root = "") -> bool:
    """Return whether a process exists and has not ended."""
    stat = process_stat(pid, root)
    return stat is not None and stat.is_running
