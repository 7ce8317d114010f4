"""Which of a server's processes works: a worker rather than who started it, or watches over it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
from collections.abc import Sequence

from torr.procfs.stat import process_stat

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
    found = process_stat(pid)
    return -1 if found is None else found.cpu
