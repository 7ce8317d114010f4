"""Sample the processes below some roots, and the CPU time of all of them together.

    sample 1      root ─ worker a                 sample 2      root (waited for a) ─ worker b

The times of an ended process vanish from /proc. They are in `waited` of the process that waited for
it; if none did, as where SIGCHLD is ignored, the last sample is kept. So the sum never falls, and
the time of a child between its last sample and its end is counted where the kernel reports it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torr.procfs import process
from torr.procfs.stat import TICKS_PER_S, ProcessStat, process_stat
from torr.procfs.threads import Thread, threads
from torr.procfs.tree import by_parent, listed_children, lists_children

if TYPE_CHECKING:
    from torr.procfs.files import Root

_NEW = Thread(0, 0, 0)

Roots = Callable[[], Sequence[int]]
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ProcessTreeSample:
    """A sample of a tree: its usage since the first sample, and its current resources.

    `busiest_s` is the CPU time of the busiest thread, which may change from sample to sample; None
    if the kernel does not count it. `descriptors_rate` is the percentage of its limit that a
    process has open, of the process nearest to it.
    """

    cpu_s: float
    processes: int
    threads: int
    rss_bytes: int
    voluntary: int
    involuntary: int
    busiest_s: float | None = None
    descriptors: int | None = None
    descriptors_rate: float | None = None


@dataclass(slots=True)
class ProcessTree:
    """The processes below the roots, without those below `excluded`, which are another tree."""

    roots: Roots
    root: Root = ""
    excluded: Roots = tuple
    _processes: dict[Key, ProcessStat] = field(default_factory=dict)
    _threads: dict[tuple[int, int], Thread] = field(default_factory=dict)
    _limits: dict[Key, int | None] = field(default_factory=dict)
    # Ticks: those from before the first sample, and those of ended processes without a waiter.
    _ticks_before: int = 0
    _lost_ticks: int = 0
    _busiest_ns: int = 0
    _switches: list[int] = field(default_factory=lambda: [0, 0])
    _has_sampled: bool = False
    # The start times of roots, since pids are reused.
    _root_starts: dict[int, int] = field(default_factory=dict)

    def sample(self) -> ProcessTreeSample:
        """Take a sample of all processes."""
        found = self._members()
        now = found.members
        self._account_for_ended(now)
        self._processes = now
        ticks = self._lost_ticks - self._ticks_before + sum(stat.all_cpu for stat in now.values())
        busiest = self._count_threads(found)
        open_files, nearest = self._descriptors(now)
        self._has_sampled = True
        return ProcessTreeSample(
            cpu_s=max(0, ticks) / TICKS_PER_S,
            processes=len(now),
            threads=sum(stat.threads for stat in now.values()),
            rss_bytes=sum(stat.rss_bytes for stat in now.values()),
            voluntary=self._switches[0],
            involuntary=self._switches[1],
            busiest_s=busiest,
            descriptors=open_files,
            descriptors_rate=nearest,
        )

    @property
    def pids(self) -> list[int]:
        """Return the pids of the last sample."""
        return [pid for pid, _ in self._processes]

    def pss_bytes(self) -> int | None:
        """Return the memory of all processes; None if none is readable."""
        sizes = (process.pss_bytes(pid, self.root) for pid in self.pids)
        known = [size for size in sizes if size is not None]
        return sum(known) if known else None

    def cores(self) -> tuple[int, ...]:
        """Return the cores that any of the processes may run on."""
        cores = (process.allowed_cores(pid, self.root) for pid in self.pids)
        return tuple(sorted(set().union(*cores)))

    def _members(self) -> _TreeMembers:
        """Return the roots, their descendants, and former ones that have another parent now."""
        children = None if lists_children(self.root) else by_parent(self.root)
        found = _TreeMembers(set(self.excluded()), children)
        for pid in self.roots():
            stat = process_stat(pid, self.root)
            if stat and self._root_starts.setdefault(pid, stat.started) == stat.started:
                self._add(pid, found)
        for pid, started in self._processes:
            stat = process_stat(pid, self.root)
            if stat and stat.started == started:
                self._add(pid, found)
        return found

    def _add(self, pid: int, found: _TreeMembers) -> None:
        """Add a process and its descendants."""
        known = set(self.pids)
        queue = [pid]
        while queue:
            pid = queue.pop()
            stat = None if pid in found.visited else process_stat(pid, self.root)
            if stat is None:
                continue
            found.visited.add(pid)
            is_new_child = self._has_sampled and stat.parent in known | found.visited
            if stat.key not in self._processes and not is_new_child:
                # Its earlier CPU time does not belong to this load.
                self._ticks_before += stat.all_cpu
            found.members[stat.key] = stat
            found.threads[stat.pid] = threads(pid, self.root)
            queue += found.children(pid, self.root)

    def _account_for_ended(self, now: dict[Key, ProcessStat]) -> None:
        """Keep the times of ended processes that are not in the `waited` of another."""
        lost: Counter[Key | None] = Counter()
        for key, stat in self._processes.items():
            if key not in now:
                lost[self._living_ancestor(stat, now)] += stat.all_cpu
        for ancestor, ticks in lost.items():
            waited = 0
            if ancestor is not None:
                waited = now[ancestor].waited - self._processes[ancestor].waited
            self._lost_ticks += max(0, ticks - waited)

    def _living_ancestor(self, stat: ProcessStat, now: dict[Key, ProcessStat]) -> Key | None:
        """Return the nearest ancestor that still runs; those between may have waited for it."""
        before = {stat.pid: stat for stat in self._processes.values()}
        parent = before.get(stat.parent)
        while parent is not None and parent.key not in now:
            parent = before.get(parent.parent)
        return None if parent is None else parent.key

    def _count_threads(self, found: _TreeMembers) -> float | None:
        """Add the usage of all threads since the last sample; return that of the busiest ones."""
        most: int | None = None
        now = {(pid, tid): t for pid, of in found.threads.items() for tid, t in of.items()}
        for key, thread in now.items():
            before = self._threads.get(key, thread if not self._has_sampled else _NEW)
            self._switches[0] += max(0, thread.voluntary - before.voluntary)
            self._switches[1] += max(0, thread.involuntary - before.involuntary)
            if thread.cpu_ns is not None:
                most = max(most or 0, thread.cpu_ns - (before.cpu_ns or 0))
        self._threads = now
        self._busiest_ns += most or 0
        return self._busiest_ns / 1e9 if self._busiest_ns or most is not None else None

    def _descriptors(self, now: dict[Key, ProcessStat]) -> tuple[int | None, float | None]:
        """Return the number of open files, and the highest percentage of a process's limit."""
        total: int | None = None
        nearest: float | None = None
        for key in now:
            if key not in self._limits:
                self._limits[key] = process.descriptor_limit(key[0], self.root)
            count, limit = process.descriptors(key[0], self.root), self._limits[key]
            if count is None:
                continue
            total = (total or 0) + count
            if limit:
                nearest = max(nearest or 0.0, min(100.0, 100 * count / limit))
        return total, nearest


@dataclass(slots=True)
class _TreeMembers:
    """The processes of a sample; those in `visited` are not sampled again."""

    visited: set[int]
    by_parent: dict[int, list[ProcessStat]] | None
    members: dict[Key, ProcessStat] = field(default_factory=dict)
    threads: dict[int, dict[int, Thread]] = field(default_factory=dict)

    def children(self, pid: int, root: Root) -> list[int]:
        if self.by_parent is not None:
            return [stat.pid for stat in self.by_parent.get(pid, ())]
        return listed_children(pid, self.threads[pid], root)
