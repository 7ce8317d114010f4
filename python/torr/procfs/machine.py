"""What this machine lets a load generator have: cores, descriptors, ports, queues, clocks.

Reads files only; what a machine does not tell is None. `root` is where /proc and /sys are, so that
tests can describe machines that nobody has.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path("/")


@dataclass(frozen=True, slots=True)
class Machine:
    """One look at a machine; `quota` is in cores, `descriptors` the soft and the hard limit."""

    cores: int
    cores_allowed: int
    descriptors: tuple[int, int]
    quota: float | None = None
    load: float | None = None
    clock: str | None = None
    governors: tuple[str, ...] = ()
    port_range: tuple[int, int] | None = None
    tw_reuse: int | None = None
    somaxconn: int | None = None
    syn_backlog: int | None = None
    conntrack: tuple[int, int] | None = None
    memory_available: int | None = None

    @property
    def ports(self) -> int | None:
        """How many ports there are to leave from, for one address to go to."""
        return None if self.port_range is None else self.port_range[1] - self.port_range[0] + 1


def machine(root: Path = ROOT) -> Machine:
    """Look at the machine."""
    ipv4, core = root / "proc/sys/net/ipv4", root / "proc/sys/net/core"
    ports = _numbers(ipv4 / "ip_local_port_range")
    allowed = len(os.sched_getaffinity(0))
    return Machine(
        cores=os.cpu_count() or allowed,
        cores_allowed=allowed,
        descriptors=resource.getrlimit(resource.RLIMIT_NOFILE),
        quota=quota(root),
        load=_load(root),
        clock=_text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governors=_governors(root),
        port_range=(ports[0], ports[1]) if len(ports) == 2 else None,
        tw_reuse=_number(ipv4 / "tcp_tw_reuse"),
        somaxconn=_number(core / "somaxconn"),
        syn_backlog=_number(ipv4 / "tcp_max_syn_backlog"),
        conntrack=_conntrack(root),
        memory_available=_memory(root),
    )


def quota(root: Path = ROOT) -> float | None:
    """How many cores' worth of time the cgroups around this process may use; None for all."""
    found = [_quota_of(group) for group in _groups(root)]
    return min((cores for cores in found if cores is not None), default=None)


def _groups(root: Path) -> Iterator[Path]:
    """Where the cgroup of this process and those around it are, of both versions."""
    for line in (_text(root / "proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = root / "sys/fs/cgroup" / ("cpu" if controllers else "")
        inside = PurePosixPath(path.lstrip("/"))
        yield from (mount / folder for folder in (inside, *inside.parents))


def _quota_of(group: Path) -> float | None:
    """`cpu.max` of version 2 is `max 100000` or `50000 100000`; version 1 has two files."""
    time, _, period = (_text(group / "cpu.max") or "").partition(" ")
    if not time:
        time = _text(group / "cpu.cfs_quota_us") or ""
        period = _text(group / "cpu.cfs_period_us") or ""
    return int(time) / int(period) if time.isdigit() and period.isdigit() else None


def _load(root: Path) -> float | None:
    words = (_text(root / "proc/loadavg") or "").split()
    return float(words[0]) if words else None


def _governors(root: Path) -> tuple[str, ...]:
    files = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    return tuple(sorted({text for text in map(_text, files) if text}))


def _conntrack(root: Path) -> tuple[int, int] | None:
    """How many connections are tracked, and how many can be; None where none are."""
    folder = root / "proc/sys/net/netfilter"
    now, most = _number(folder / "nf_conntrack_count"), _number(folder / "nf_conntrack_max")
    return None if now is None or most is None else (now, most)


def _memory(root: Path) -> int | None:
    for line in (_text(root / "proc/meminfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return None


def _number(path: Path) -> int | None:
    return next(iter(_numbers(path)), None)


def _numbers(path: Path) -> list[int]:
    return [int(word) for word in (_text(path) or "").split() if word.lstrip("-").isdigit()]


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
