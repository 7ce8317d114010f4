"""Find the process of a server that does the work: a worker, not its supervisor."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from torr.procfs.stat import process_stat

if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERVAL_S = 0.2
_MAX_SAMPLES = 5


def busiest(pids: Sequence[int]) -> int:
    """Return the process that uses the most CPU now; if all are idle, the one that used most.

    The total alone is not enough: a supervisor may have imported the application.
    """
    if len(pids) == 1:
        return pids[0]
    before = {pid: _cpu_ticks(pid) for pid in pids}
    for _ in range(_MAX_SAMPLES):
        time.sleep(_INTERVAL_S)
        after = {pid: _cpu_ticks(pid) for pid in pids}
        # A process that waits for a core may get no tick of 10 ms, and look idle.
        if any(after[pid] > before[pid] for pid in pids):
            break
    return max(pids, key=lambda pid: (after[pid] - before[pid], after[pid]))


def _cpu_ticks(pid: int) -> int:
    """Return the CPU time of a process in ticks; -1 if it has ended."""
    stat = process_stat(pid)
    return -1 if stat is None else stat.cpu
