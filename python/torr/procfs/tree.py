"""The processes below a process.

Below a process that adopts orphans (PR_SET_CHILD_SUBREAPER) the list is complete, whichever process
forked and ended. The watcher of a server imports this file, so it imports little.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from torr.procfs.files import Root, numbered, read
from torr.procfs.stat import ProcessStat, is_running, pids, process_stat


def descendants(pid: int, root: Root = "") -> list[int]:
    """Return the processes below a process that run, parents before their children."""
    children = by_parent(root)
    below: list[ProcessStat] = []
    parents = [pid]
    for parent in parents:
        below += children.get(parent, [])
        parents += [child.pid for child in children.get(parent, [])]
    return [stat.pid for stat in below if stat.is_running]


def children(pid: int, root: Root = "") -> list[int]:
    """Return the children of a process that run; one that is just forked may be missing."""
    if not lists_children(root):
        return [stat.pid for stat in by_parent(root).get(pid, []) if stat.is_running]
    pids = listed_children(pid, numbered(f"{root}/proc/{pid}/task"), root)
    return [child for child in pids if is_running(child, root)]


def by_parent(root: Root = "") -> dict[int, list[ProcessStat]]:
    """Return all processes by the number of their parent, which takes milliseconds."""
    children: dict[int, list[ProcessStat]] = {}
    for pid in pids(root):
        stat = process_stat(pid, root)
        if stat is not None:
            children.setdefault(stat.parent, []).append(stat)
    return children


def lists_children(root: Root = "") -> bool:
    """Return whether the kernel lists the children of a thread; else all processes must be read."""
    pid = os.getpid()
    return os.path.exists(f"{root}/proc/{pid}/task/{pid}/children")


def listed_children(pid: int, tids: Iterable[int], root: Root = "") -> list[int]:
    """Return the children of these threads of a process: each thread has its own."""
    texts = (read(f"{root}/proc/{pid}/task/{tid}/children") for tid in tids)
    return [int(word) for text in texts for word in text.split()]
