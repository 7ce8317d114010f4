"""The processes below a process, read from /proc: who they are, and whether they still run.

Imports next to nothing: the watcher of a server uses it too. It signals nobody. Below a process
that adopts orphans (PR_SET_CHILD_SUBREAPER) the list is whole, whoever forked and left.
"""

from __future__ import annotations

import os
from contextlib import suppress

_ZOMBIE = ("Z", "X")


def descendants(root: int) -> list[int]:
    """The pids of everything below a process that still runs, parents before their children."""
    children: dict[int, list[int]] = {}
    states: dict[int, str] = {}
    for pid in pids():
        found = stat(pid)
        if found is not None:
            states[pid] = found[0]
            children.setdefault(int(found[1]), []).append(pid)
    below: list[int] = []
    waiting = [root]
    for parent in waiting:
        waiting.extend(children.get(parent, []))
        below.extend(children.get(parent, []))
    return [pid for pid in below if states[pid] not in _ZOMBIE]


def children(parent: int) -> list[int]:
    """The pids right below a process that still run; one that is just forked may be missed.

    A kernel that lists them is asked for them alone: a look at every process takes milliseconds.
    """
    threads = f"/proc/{parent}/task"
    if not os.path.exists(f"{threads}/{parent}/children"):
        return [pid for pid in descendants(parent) if _parent(pid) == parent]
    found: list[int] = []
    with suppress(OSError):
        for tid in os.listdir(threads):
            found += map(int, read(f"{threads}/{tid}/children").split())
    return [pid for pid in found if is_running(pid)]


def _parent(pid: int) -> int | None:
    found = stat(pid)
    return None if found is None else int(found[1])


def pids() -> list[int]:
    """Every process that this one can see."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on (proc(5)); None when it is gone.

    0 is the state, 1 the parent, 3 the session, 19 the start. The name before may hold anything.
    """
    content = read(f"/proc/{pid}/stat")
    return content.rpartition(b")")[2].decode("ascii").split() or None


def is_running(pid: int) -> bool:
    """Whether the process is there, and no zombie."""
    found = stat(pid)
    return found is not None and found[0] not in _ZOMBIE


def start_of(pid: int) -> str | None:
    """When the process was started, in ticks since the machine was; None when it is gone."""
    found = stat(pid)
    return None if found is None else found[19]


def command_of(pid: int) -> str:
    """What the process was started as, at most 120 characters; its name where it tells no more."""
    words = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").strip() or read(f"/proc/{pid}/comm")
    text = words.decode("utf-8", "replace").strip()
    return text if len(text) <= 120 else f"{text[:119]}…"


def read(path: str) -> bytes:
    """All of a file of /proc; nothing when it is gone or may not be read."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read()
    return b""
