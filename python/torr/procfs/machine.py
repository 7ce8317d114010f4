"""The limits of this machine for a load generator: cores, open files, ports, queues, clocks.

Unknown values are None.
"""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from pathlib import Path

from torr.procfs.cgroup import quota
from torr.procfs.files import Root, field, field_bytes, numbers, text

_LIMITS = {
    "port_range": "ipv4/ip_local_port_range",
    "somaxconn": "core/somaxconn",
    "tcp_max_syn_backlog": "ipv4/tcp_max_syn_backlog",
    "tcp_tw_reuse": "ipv4/tcp_tw_reuse",
    "tcp_fin_timeout": "ipv4/tcp_fin_timeout",
    "tcp_syncookies": "ipv4/tcp_syncookies",
    "tcp_rmem": "ipv4/tcp_rmem",
    "tcp_wmem": "ipv4/tcp_wmem",
}


@dataclass(frozen=True, slots=True)
class Machine:
    """One reading; `quota` is in cores, `descriptors` the soft and the hard limit of open files."""

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
        """Return the number of source ports for connections to one address."""
        return None if self.port_range is None else self.port_range[1] - self.port_range[0] + 1


def allowed_cores() -> int:
    """Return the number of cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def machine(root: Root = "") -> Machine:
    """Return the limits of this machine."""
    limits = kernel_limits(root)
    ports = limits["port_range"]
    allowed = allowed_cores()
    clock = text(f"{root}/sys/devices/system/clocksource/clocksource0/current_clocksource")
    governors = Path(root, "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    load = text(f"{root}/proc/loadavg").split()
    return Machine(
        cores=os.cpu_count() or allowed,
        cores_allowed=allowed,
        descriptors=resource.getrlimit(resource.RLIMIT_NOFILE),
        quota=quota(root),
        load=float(load[0]) if load else None,
        clock=clock or None,
        governors=tuple(sorted({name for path in governors if (name := text(str(path)))})),
        port_range=(ports[0], ports[1]) if len(ports) == 2 else None,
        tw_reuse=_first(limits["tcp_tw_reuse"]),
        somaxconn=_first(limits["somaxconn"]),
        syn_backlog=_first(limits["tcp_max_syn_backlog"]),
        conntrack=_conntrack(root),
        memory_available=field_bytes(f"{root}/proc/meminfo", "MemAvailable"),
    )


def kernel_limits(root: Root = "") -> dict[str, list[int]]:
    """Return the settings of the kernel that limit connections, by name."""
    return {name: numbers(f"{root}/proc/sys/net/{path}") for name, path in _LIMITS.items()}


def processor() -> str | None:
    """Return the name of the processor's model."""
    return field("/proc/cpuinfo", "model name")


def governor() -> str | None:
    """Return the frequency governor of the first core."""
    return text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or None


def memory_bytes() -> int | None:
    """Return the size of the machine's memory."""
    return field_bytes("/proc/meminfo", "MemTotal")


def _first(values: list[int]) -> int | None:
    return values[0] if values else None


def _conntrack(root: Root) -> tuple[int, int] | None:
    """Return the number of tracked connections and its limit; None without connection tracking."""
    folder = f"{root}/proc/sys/net/netfilter"
    now = numbers(f"{folder}/nf_conntrack_count")
    most = numbers(f"{folder}/nf_conntrack_max")
    return (now[0], most[0]) if now and most else None
