"""The machine as /proc tells of it: every core, every network interface, pressure.

Cumulative numbers stay as they are; what a kernel does not tell is left out. `root` is where /proc
is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from torr.procfs.process import content

PRESSED = ("cpu", "memory", "io")


@dataclass(frozen=True, slots=True)
class Core:
    """What a core did since the machine started, in ticks; `busy` is all that is not `idle`.

    Time that a hypervisor took (`steal`) is busy: nobody here could have had it.
    """

    idle: int = 0
    user: int = 0
    system: int = 0
    irq: int = 0
    steal: int = 0

    @property
    def busy(self) -> int:
        """Time in which the core had no room."""
        return self.user + self.system + self.irq + self.steal

    @property
    def total(self) -> int:
        """All of its time."""
        return self.idle + self.busy


@dataclass(frozen=True, slots=True)
class Interface:
    """What went over a network interface since it was there."""

    bytes_in: int
    packets_in: int
    bytes_out: int
    packets_out: int


@dataclass(frozen=True, slots=True)
class Pressure:
    """How long tasks waited for a resource: `some` of them, or all (`full`), in microseconds.

    The averages of 10 s are percent, as the kernel gives them.
    """

    some_us: int = 0
    some_avg10: float = 0.0
    full_us: int = 0
    full_avg10: float = 0.0


@dataclass(frozen=True, slots=True)
class Machine:
    """One look at the machine."""

    cores: dict[int, Core] = field(default_factory=dict)
    network: dict[str, Interface] = field(default_factory=dict)
    pressure: dict[str, Pressure] = field(default_factory=dict)


def look(root: Path) -> Machine:
    """Look at the machine."""
    texts = {name: content(f"{root}/proc/pressure/{name}") for name in PRESSED}
    return Machine(
        cores=_cores(content(f"{root}/proc/stat")),
        network=_network(content(f"{root}/proc/self/net/dev")),
        pressure={name: _pressure(text) for name, text in texts.items() if text},
    )


def _cores(text: bytes) -> dict[int, Core]:
    """`cpu0 user nice system idle iowait irq softirq steal guest …`; guests are in user already."""
    found = {}
    for line in text.splitlines():
        name, *words = line.split()
        if not name.startswith(b"cpu"):
            break
        if name == b"cpu":
            continue
        user, nice, system, idle, iowait, irq, softirq, steal = map(int, words[:8])
        found[int(name[3:])] = Core(idle + iowait, user + nice, system, irq + softirq, steal)
    return found


def _network(text: bytes) -> dict[str, Interface]:
    """Two lines of headings, then `lo: bytes packets errs drop fifo frame … bytes packets …`."""
    found = {}
    for line in text.splitlines()[2:]:
        name, _, rest = line.partition(b":")
        numbers = [int(word) for word in rest.split()]
        found[name.strip().decode(errors="replace")] = Interface(
            numbers[0], numbers[1], numbers[8], numbers[9]
        )
    return found


def _pressure(text: bytes) -> Pressure:
    """`some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and `full …` where there is one."""
    found = {}
    for line in text.splitlines():
        kind, *words = line.decode().split()
        found[kind] = dict(word.split("=") for word in words)
    some, full = found.get("some", {}), found.get("full", {})
    return Pressure(
        int(some.get("total", 0)),
        float(some.get("avg10", 0)),
        int(full.get("total", 0)),
        float(full.get("avg10", 0)),
    )
