"""Counters of the machine since its start: every core, every network interface, pressure.

Counters that a kernel does not have are omitted.
"""

from __future__ import annotations

from typing import NamedTuple

from torr.procfs.files import Root, read

RESOURCES = ("cpu", "memory", "io")


class Core(NamedTuple):
    """The times of a core, in ticks; `busy` is all that is not `idle`.

    Time that a hypervisor took (`steal`) is busy: no process of this machine could use it.
    """

    idle: int = 0
    user: int = 0
    system: int = 0
    irq: int = 0
    steal: int = 0

    @property
    def busy(self) -> int:
        """Return the time in which the core was not idle."""
        return self.user + self.system + self.irq + self.steal

    @property
    def total(self) -> int:
        """Return the sum of all times."""
        return self.idle + self.busy


class Interface(NamedTuple):
    """The traffic of a network interface."""

    bytes_in: int
    packets_in: int
    bytes_out: int
    packets_out: int


class Pressure(NamedTuple):
    """The time that tasks waited for a resource: `some` of them, or all (`full`), in microseconds.

    The averages of 10 s are percent, as the kernel gives them.
    """

    some_us: int = 0
    some_avg10: float = 0.0
    full_us: int = 0
    full_avg10: float = 0.0


class MachineTotals(NamedTuple):
    """One reading of the machine: by core, by interface, by resource."""

    cores: dict[int, Core]
    network: dict[str, Interface]
    pressure: dict[str, Pressure]


def machine_totals(root: Root = "") -> MachineTotals:
    """Return a reading of the machine."""
    texts = {name: read(f"{root}/proc/pressure/{name}") for name in RESOURCES}
    return MachineTotals(
        _cores(read(f"{root}/proc/stat")),
        _network(read(f"{root}/proc/self/net/dev")),
        {name: _pressure(content) for name, content in texts.items() if content},
    )


def _cores(text: bytes) -> dict[int, Core]:
    """Parse `cpu0 user nice system idle iowait irq softirq steal guest …`; user contains guest."""
    cores = {}
    for line in text.splitlines():
        name, *words = line.split()
        if not name.startswith(b"cpu"):
            break
        if name == b"cpu":
            continue
        user, nice, system, idle, iowait, irq, softirq, steal = map(int, words[:8])
        cores[int(name[3:])] = Core(idle + iowait, user + nice, system, irq + softirq, steal)
    return cores


def _network(text: bytes) -> dict[str, Interface]:
    """Parse two lines of headings, then `lo: bytes packets errs drop fifo frame … bytes …`."""
    interfaces = {}
    for line in text.splitlines()[2:]:
        name, _, rest = line.partition(b":")
        n = [int(word) for word in rest.split()]
        interfaces[name.strip().decode(errors="replace")] = Interface(n[0], n[1], n[8], n[9])
    return interfaces


def _pressure(text: bytes) -> Pressure:
    """Parse `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and `full …` if there is one."""
    values = {}
    for line in text.splitlines():
        kind, *words = line.decode().split()
        values[kind] = dict(word.split("=") for word in words)
    some, full = values.get("some", {}), values.get("full", {})
    return Pressure(
        int(some.get("total", 0)),
        float(some.get("avg10", 0)),
        int(full.get("total", 0)),
        float(full.get("avg10", 0)),
    )
