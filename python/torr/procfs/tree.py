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
    waiting = [pid]
    for parent in waiting:
        below += children.get(parent, [])
        waiting += [child.pid for child in children.get(parent, [])]
    return [each.pid for each in below if each.is_running]


def children(pid: int, root: Root = "") -> list[int]:
    """Return the children of a process that run; one that is just forked may be missing."""
    if not lists_children(root):
        return [each.pid for each in by_parent(root).get(pid, []) if each.is_running]
    found = listed_children(pid, numbered(f"{root}/proc/{pid}/task"), root)
    return [child for child in found if is_running(child, root)]


def by_parent(root: Root = "") -> dict[int, list[ProcessStat]]:
    """Return all processes by the number of their parent, which takes milliseconds."""
    children: dict[int, list[ProcessStat]] = {}
    for each in pids(root):
        found = process_stat(each, root)
        if found is not None:
            children.setdefault(found.parent, []).append(found)
    return children


def lists_children(root: Root = "") -> bool:
    """Return whether the kernel lists the children of a thread; else all processes must be read."""
    me = os.getpid()
    return os.path.exists(f"{root}/proc/{me}/task/{me}/children")


def listed_children(pid: int, tids: Iterable[int], root: Root = "") -> list[int]:
    """Return the children of these threads of a process: each thread has its own."""
    texts = (read(f"{root}/proc/{pid}/task/{tid}/children") for tid in tids)
    return [int(word) for text in texts for word in text.split()]
