"""Control groups: that of this process, the members of a group, and CPU limits."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torr.procfs.files import Root, numbers, read, text


def own_folder(root: Root = "") -> str | None:
    """Return the folder of this process's group of version 2; None where none is mounted."""
    inside = next((path for controllers, path in _own(root) if not controllers), None)
    for line in os.fsdecode(read(f"{root}/proc/self/mountinfo")).splitlines():
        mount, _, kind = line.partition(" - ")
        if kind.startswith("cgroup2 ") and inside is not None:
            return f"{mount.split()[4]}{inside}".rstrip("/")
    return None


def controllers(folder: str) -> list[str]:
    """Return the controllers that are in effect in a group."""
    return text(f"{folder}/cgroup.controllers").split()


def members(folder: str) -> list[int]:
    """Return the processes in a group."""
    return numbers(f"{folder}/cgroup.procs")


def quota(root: Root = "") -> float | None:
    """Return the CPU limit of this process's groups, in cores; None without limit."""
    limits = (_quota(folder) for folder in _around(root))
    return min((cores for cores in limits if cores is not None), default=None)


def _own(root: Root) -> list[tuple[str, str]]:
    """Return the controllers and the path of each group of this process; version 2 has none."""
    lines = os.fsdecode(read(f"{root}/proc/self/cgroup")).splitlines()
    return [(controllers, path) for _, controllers, path in (line.split(":", 2) for line in lines)]


def _around(root: Root) -> Iterator[str]:
    """Yield the folders of this process's groups and of their ancestors, of both versions."""
    for controllers, path in _own(root):
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = f"{root}/sys/fs/cgroup/cpu" if controllers else f"{root}/sys/fs/cgroup"
        parts = [part for part in path.split("/") if part]
        yield from ("/".join((mount, *parts[:depth])) for depth in range(len(parts), -1, -1))


def _quota(folder: str) -> float | None:
    """Return `cpu.max` of version 2, `max 100000` or `50000 100000`; version 1 has two files."""
    time, _, period = text(f"{folder}/cpu.max").partition(" ")
    if not time:
        time = text(f"{folder}/cpu.cfs_quota_us")
        period = text(f"{folder}/cpu.cfs_period_us")
    return int(time) / int(period) if time.isdigit() and period.isdigit() else None
