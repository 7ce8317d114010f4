"""The processes below some roots, as they come and go, and the CPU time of all of them together.

    look 1      root ─ worker a                 look 2      root (waited for a) ─ worker b

A process that ends takes its times out of /proc. Whoever waits for it has them in `waited`; what
nobody has waited for, as where signals of children are ignored, stays as it was last seen. So the
sum never falls, and what a child did between two looks and its end is counted where the kernel
tells it.
"""

from __future__ import annotations

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
    """A look at a tree: what it has used since the first look, and what it has now.

    `busiest_s` is the CPU time of the busiest thread, which may be another one from look to look;
    None where the kernel does not count it. `descriptors_rate` is the part of its limit that a
    process has open, of the one that is nearest to it.
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
class Tree:
    """The processes below the roots, but for those below `but_for`, which are another tree's."""

    roots: Roots
    root: Root = ""
    but_for: Roots = tuple
    _last: dict[Key, ProcessStat] = field(default_factory=dict)
    _threads: dict[tuple[int, int], Thread] = field(default_factory=dict)
    _limits: dict[Key, int | None] = field(default_factory=dict)
    # Ticks: what is of before, and of the dead for whom nobody waited.
    _base: int = 0
    _carried: int = 0
    _busiest_ns: int = 0
    _switches: list[int] = field(default_factory=lambda: [0, 0])
    _has_looked: bool = False
    # When each root was started: its number may go to a stranger.
    _rooted: dict[int, int] = field(default_factory=dict)

    def look(self) -> ProcessTreeSample:
        """Look at all of them."""
        seen = self._members()
        now = seen.members
        self._settle(now)
        self._last = now
        ticks = self._carried - self._base + sum(each.all_cpu for each in now.values())
        busiest = self._count_threads(seen)
        open_files, nearest = self._descriptors(now)
        self._has_looked = True
        return ProcessTreeSample(
            cpu_s=max(0, ticks) / TICKS_PER_S,
            processes=len(now),
            threads=sum(each.threads for each in now.values()),
            rss_bytes=sum(each.rss_bytes for each in now.values()),
            voluntary=self._switches[0],
            involuntary=self._switches[1],
            busiest_s=busiest,
            descriptors=open_files,
            descriptors_rate=nearest,
        )

    @property
    def pids(self) -> list[int]:
        """Who was there at the last look."""
        return [pid for pid, _ in self._last]

    def pss_bytes(self) -> int | None:
        """The memory of all of them, None where none may be looked at."""
        found = [process.pss_bytes(pid, self.root) for pid in self.pids]
        known = [size for size in found if size is not None]
        return sum(known) if known else None

    def cores(self) -> tuple[int, ...]:
        """The cores that one of them or another may run on."""
        found = (process.allowed_cores(pid, self.root) for pid in self.pids)
        return tuple(sorted({core for cores in found for core in cores}))

    def _members(self) -> _Seen:
        """Roots, what is below them, and who once was and has been given another parent."""
        children = None if lists_children(self.root) else by_parent(self.root)
        seen = _Seen(set(self.but_for()), children)
        for pid in self.roots():
            each = process_stat(pid, self.root)
            if each is not None and self._rooted.setdefault(pid, each.started) == each.started:
                self._add(pid, seen)
        for pid, started in self._last:
            each = process_stat(pid, self.root)
            if each is not None and each.started == started:
                self._add(pid, seen)
        return seen

    def _add(self, pid: int, seen: _Seen) -> None:
        """Add a process and all below it."""
        ours = {member for member, _ in self._last}
        queue = [pid]
        while queue:
            pid = queue.pop()
            each = None if pid in seen.done else process_stat(pid, self.root)
            if each is None:
                continue
            seen.done.add(pid)
            is_born_here = self._has_looked and (each.parent in ours or each.parent in seen.done)
            if each.key not in self._last and not is_born_here:
                # What it used before it was ours is not of this load.
                self._base += each.all_cpu
            seen.members[each.key] = each
            seen.threads[each.pid] = threads(pid, self.root)
            queue += seen.children(pid, self.root)

    def _settle(self, now: dict[Key, ProcessStat]) -> None:
        """Keep the times of those who are gone, as far as nobody has them in `waited`."""
        gone = [each for key, each in self._last.items() if key not in now]
        lost: dict[Key | None, int] = {}
        for each in gone:
            heir = self._heir(each, now)
            lost[heir] = lost.get(heir, 0) + each.all_cpu
        for heir, ticks in lost.items():
            told = 0 if heir is None else now[heir].waited - self._last[heir].waited
            self._carried += max(0, ticks - told)

    def _heir(self, each: ProcessStat, now: dict[Key, ProcessStat]) -> Key | None:
        """The nearest ancestor that is still there: those between may have waited for it before."""
        before = {member.pid: member for member in self._last.values()}
        parent = before.get(each.parent)
        while parent is not None and parent.key not in now:
            parent = before.get(parent.parent)
        return None if parent is None else parent.key

    def _count_threads(self, seen: _Seen) -> float | None:
        """Add what each thread did since the last look; the CPU time of the busiest so far."""
        most: int | None = None
        now = {(pid, tid): each for pid, of in seen.threads.items() for tid, each in of.items()}
        for key, each in now.items():
            before = self._threads.get(key, each if not self._has_looked else _NEW)
            self._switches[0] += max(0, each.voluntary - before.voluntary)
            self._switches[1] += max(0, each.involuntary - before.involuntary)
            if each.cpu_ns is not None:
                most = max(most or 0, each.cpu_ns - (before.cpu_ns or 0))
        self._threads = now
        self._busiest_ns += most or 0
        return self._busiest_ns / 1e9 if self._busiest_ns or most is not None else None

    def _descriptors(self, now: dict[Key, ProcessStat]) -> tuple[int | None, float | None]:
        """All open files, and the highest part of a process's limit."""
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
class _Seen:
    """What a look has come across; `done` are not looked at again."""

    done: set[int]
    by_parent: dict[int, list[ProcessStat]] | None
    members: dict[Key, ProcessStat] = field(default_factory=dict)
    threads: dict[int, dict[int, Thread]] = field(default_factory=dict)

    def children(self, pid: int, root: Root) -> list[int]:
        if self.by_parent is not None:
            return [each.pid for each in self.by_parent.get(pid, ())]
        return listed_children(pid, self.threads[pid], root)
