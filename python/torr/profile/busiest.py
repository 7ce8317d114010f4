"""Which of a server's processes works: a worker rather than who started it, or watches over it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

_WHILE_S = 0.2
_MOST_LOOKS = 5


def busiest(pids: Sequence[int]) -> int:
    """Return the process that uses the most CPU now, under load; of idle ones who has used most.

    Who has used most so far may be who imported the application, and does nothing since.
    """
    if len(pids) == 1:
        return pids[0]
    before = {pid: _cpu_ticks(pid) for pid in pids}
    for _ in range(_MOST_LOOKS):
        time.sleep(_WHILE_S)
        after = {pid: _cpu_ticks(pid) for pid in pids}
        # Who waits for a core may get no tick of 10 ms meanwhile, and be taken for idle.
        if any(after[pid] > before[pid] for pid in pids):
            break
    return max(pids, key=lambda pid: (after[pid] - before[pid], after[pid]))


def _cpu_ticks(pid: int) -> int:
    """What a process has used in all; of one that is gone less than of any other."""
    try:
        # proc(5): the name, in brackets, may hold anything; utime and stime are 11 and 12 behind.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return -1
    return int(fields[11]) + int(fields[12])
