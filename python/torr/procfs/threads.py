"""/proc/PID/task: processor time and context switches of each thread of a process."""

from __future__ import annotations

from typing import NamedTuple

from torr.procfs.files import Root, numbered, read

_CONTEXT = b"voluntary_ctxt_switches:"
_NO_CONTEXT = b"nonvoluntary_ctxt_switches:"


class Thread(NamedTuple):
    """One reading of a thread; `cpu_ns` is None where the kernel does not count it."""

    cpu_ns: int | None
    voluntary: int
    involuntary: int


def threads(pid: int, root: Root = "") -> dict[int, Thread]:
    """Return a reading of each thread of a process, by its number."""
    folder = f"{root}/proc/{pid}/task"
    return {tid: _thread(f"{folder}/{tid}") for tid in numbered(folder)}


def _thread(folder: str) -> Thread:
    times = read(f"{folder}/schedstat").split()
    voluntary = involuntary = 0
    for line in read(f"{folder}/status").splitlines()[-2:]:
        if line.startswith(_CONTEXT):
            voluntary = int(line.split()[1])
        elif line.startswith(_NO_CONTEXT):
            involuntary = int(line.split()[1])
    return Thread(int(times[0]) if times else None, voluntary, involuntary)
