"""One process as /proc tells of it: its CPU, memory, threads, children, descriptors.

Cumulative numbers stay as they are, in the kernel's units; nothing is subtracted here. A process
that is gone, or may not be looked at, is None: processes end whenever they like. `root` is where
/proc is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_CONTEXT = b"voluntary_ctxt_switches:"
_NO_CONTEXT = b"nonvoluntary_ctxt_switches:"


@dataclass(frozen=True, slots=True)
class Process:
    """A look at a process; `started` tells it from a later one that has its number.

    `cpu` is its own time and `waited` that of the ended children that it waited for, in ticks.
    """

    pid: int
    parent: int
    started: int
    cpu: int
    waited: int
    threads: int
    rss_bytes: int

    @property
    def key(self) -> tuple[int, int]:
        """What no other process has, not even one of the same number."""
        return self.pid, self.started

    @property
    def all_cpu(self) -> int:
        """Its time and that of its ended children, in ticks."""
        return self.cpu + self.waited


@dataclass(frozen=True, slots=True)
class Thread:
    """A look at a thread: its CPU time, None where the kernel does not count it, and switches."""

    cpu_ns: int | None
    voluntary: int
    involuntary: int


def process(pid: int, root: Path) -> Process | None:
    """Look at a process, ended but not waited for ones too."""
    text = content(f"{root}/proc/{pid}/stat")
    # Its name, in parentheses, may hold anything.
    fields = text.rpartition(b")")[2].split()
    if len(fields) < 22:
        return None
    numbers = [int(word) for word in fields[1:22]]
    return Process(
        pid=pid,
        parent=numbers[0],
        started=numbers[18],
        cpu=numbers[10] + numbers[11],
        waited=numbers[12] + numbers[13],
        threads=numbers[16],
        rss_bytes=numbers[20] * _PAGE_BYTES,
    )


def threads(pid: int, root: Path) -> dict[int, Thread]:
    """Look at each thread of a process, by its number."""
    return {
        tid: _thread(f"{root}/proc/{pid}/task/{tid}")
        for tid in _numbered(f"{root}/proc/{pid}/task")
    }


def children(pid: int, tids: list[int], root: Path) -> list[int]:
    """The children that the threads of a process have; those of a thread are its own."""
    texts = (content(f"{root}/proc/{pid}/task/{tid}/children") for tid in tids)
    return [int(word) for text in texts for word in text.split()]


def tells_children(root: Path) -> bool:
    """Whether the kernel lists children; one that was built without leaves a look at all."""
    me = os.getpid()
    return Path(f"{root}/proc/{me}/task/{me}/children").exists()


def every_process(root: Path) -> list[Process]:
    """Look at all processes there are."""
    found = (process(pid, root) for pid in _numbered(f"{root}/proc"))
    return [each for each in found if each is not None]


def descriptors(pid: int, root: Path) -> int | None:
    """How many files a process has open."""
    folder = f"{root}/proc/{pid}/fd"
    try:
        # Newer kernels tell the number as the size: twenty thousand names would take milliseconds.
        return Path(folder).stat().st_size or sum(1 for _ in os.scandir(folder))
    except OSError:
        return None


def descriptor_limit(pid: int, root: Path) -> int | None:
    """How many it may have open."""
    for line in content(f"{root}/proc/{pid}/limits").splitlines():
        if line.startswith(b"Max open files"):
            soft = line.split()[3]
            return int(soft) if soft.isdigit() else None
    return None


def pss_bytes(pid: int, root: Path) -> int | None:
    """Its memory, what is shared divided among those who share it; takes the kernel a while."""
    for line in content(f"{root}/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return None


def allowed_cores(pid: int, root: Path) -> tuple[int, ...]:
    """The cores that it may run on, empty where that is not told."""
    for line in content(f"{root}/proc/{pid}/status").splitlines():
        if line.startswith(b"Cpus_allowed_list:"):
            return _cores(line.split()[1].decode())
    return ()


def name_of(pid: int, root: Path) -> str:
    """What it calls itself."""
    return content(f"{root}/proc/{pid}/comm").decode(errors="replace").strip()


def _thread(folder: str) -> Thread:
    times = content(f"{folder}/schedstat").split()
    voluntary = involuntary = 0
    for line in content(f"{folder}/status").splitlines()[-2:]:
        if line.startswith(_CONTEXT):
            voluntary = int(line.split()[1])
        elif line.startswith(_NO_CONTEXT):
            involuntary = int(line.split()[1])
    return Thread(int(times[0]) if times else None, voluntary, involuntary)


def _cores(text: str) -> tuple[int, ...]:
    """`0-2,7` as numbers."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def _numbered(folder: str) -> list[int]:
    try:
        return [int(each.name) for each in os.scandir(folder) if each.name.isdigit()]
    except OSError:
        return []


def content(path: str) -> bytes:
    """What a file says; empty where there is none, or where it may not be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    # A quarter of what a file object costs, and there are hundreds a second.
    try:
        pieces = []
        while piece := os.read(descriptor, 1 << 16):
            pieces.append(piece)
        return b"".join(pieces)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
