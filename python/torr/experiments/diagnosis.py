"""Findings of an examination of the machine: each has a value, a word, and advice if needed.

Facts that the machine does not tell have no finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr.experiments.doctor import RATE, WINDOW_NS
from torr.experiments.ladder import DEFAULT_LEVELS
from torr.model.generator_limits import LAG_MS, STEAL_RATE
from torr.units import (
    SECOND_NS,
    show_connections,
    show_count,
    show_ms,
    show_percent,
    show_rate,
    show_size,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.doctor import DiagnosedTarget, Examination, PathKind
    from torr.procfs.listeners import ListeningSocket
    from torr.procfs.machine import Machine
    from torr.procfs.sockets import SocketHolder

RESERVED_DESCRIPTORS = 100
"""Descriptors for the process itself: its libraries, files and threads."""

BUSY_LOAD = 0.5
LEAST_PORTS = 16_000
LEAST_QUEUE = 1024
LEAST_MEMORY = 256 * 1024**2
TIME_WAIT_S = 60
CLOCKS = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
"""Clocks that a program reads without a system call."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact of the machine; `advice` is None if it is good."""

    name: str
    value: str
    advice: str | None = None

    @property
    def word(self) -> Literal["ok", "warn"]:
        """Whether the fact limits a load."""
        return "ok" if self.advice is None else "warn"


def findings(examination: Examination) -> tuple[Finding, ...]:
    """Return all findings in the order in which they are printed."""
    return (
        *_measured(examination),
        *_cores(examination.machine),
        *_connections(examination),
        *_queues(examination.machine),
        *(() if examination.target is None else _target(examination.target)),
    )


def connections(examination: Examination) -> int:
    """Return how many connections fit, in hundreds; loopback has enough source addresses."""
    fitting = max(0, examination.descriptors - RESERVED_DESCRIPTORS)
    is_local = examination.target is not None and examination.target.is_own
    if examination.machine.ports is not None and not is_local:
        fitting = min(fitting, examination.machine.ports)
    return fitting - fitting % 100 if fitting >= 100 else fitting


def _finding(name: str, value: str, is_bad: bool, advice: str) -> Finding:
    return Finding(name, value, advice if is_bad else None)


def _measured(examination: Examination) -> Iterator[Finding]:
    speed, timers = examination.speed, examination.timers
    value = f"{show_rate(speed.requests_per_s)} requests/s at {speed.core_rate:.0f} % of a core"
    if speed.cpu_us is not None:
        value += f", {speed.cpu_us:.2g} µs of it a request"
    yield Finding("one worker", value)
    late = f"{show_ms(timers.p50_ms)} late at p50, {show_ms(timers.p99_ms)} at p99"
    yield _finding(
        "timers",
        f"{late} ({show_rate(RATE)}/s for {WINDOW_NS / SECOND_NS:g} s)",
        timers.p99_ms is None or timers.p99_ms > LAG_MS / 2,
        "requests of --rate start late here: stop other programs, or take another machine",
    )
    yield _finding(
        "waiting",
        f"{speed.run_queue_rate:.0f} % of the time for a core, beside a target of torr's own",
        speed.was_disturbed,
        "others want the same cores: stop them, or give each side its own by taskset",
    )
    yield _finding(
        "steal",
        show_percent(speed.steal_rate),
        speed.steal_rate >= STEAL_RATE,
        "the hypervisor gives the cores to others: measure on a machine of your own",
    )


def _cores(machine: Machine) -> Iterator[Finding]:
    allowed = machine.cores_allowed
    yield _finding(
        "cores",
        f"{allowed} of {machine.cores}" if allowed < machine.cores else f"{allowed}",
        allowed == 1,
        "a target on this machine shares the only one: measure it from another machine",
    )
    if machine.quota is not None:
        yield _finding(
            "cgroup",
            f"{machine.quota:g} cores' worth of time",
            machine.quota < allowed,
            "torr is stopped when it is used up: raise the quota, or use --workers "
            f"{max(1, int(machine.quota))}",
        )
    if machine.load is not None:
        yield _finding(
            "load before",
            f"{machine.load:.2f} on {show_count(allowed, 'core')} (1 minute)",
            machine.load > BUSY_LOAD * allowed,
            "other programs run: stop them, and wait a minute",
        )
    yield from _clocks(machine)


def _clocks(machine: Machine) -> Iterator[Finding]:
    if machine.governors:
        yield _finding(
            "governor",
            ", ".join(machine.governors),
            machine.governors != ("performance",),
            "the clock changes with the load: cpupower frequency-set -g performance",
        )
    if machine.clock is not None:
        yield _finding(
            "clock",
            machine.clock,
            machine.clock not in CLOCKS,
            "reading it is a call of the kernel, several times a request: boot with "
            "clocksource=tsc if the machine has one",
        )


def _connections(examination: Examination) -> Iterator[Finding]:
    soft, hard = (_limit(value) for value in examination.machine.descriptors)
    fitting = max(0, examination.descriptors - RESERVED_DESCRIPTORS)
    yield _finding(
        "descriptors",
        f"{examination.descriptors:,} (soft {soft}, hard {hard}; torr raises it)",
        fitting < DEFAULT_LEVELS[-1],
        f"levels above {show_connections(fitting)} do not fit: ulimit -Hn 1048576, "
        "LimitNOFILE= of a systemd unit, --ulimit nofile= of a container",
    )
    yield from _ports(examination.machine)
    if examination.machine.conntrack is not None:
        now, most = examination.machine.conntrack
        yield _finding(
            "conntrack",
            f"{now:,} of {most:,} tracked",
            most - now < min(DEFAULT_LEVELS[-1], connections(examination)),
            "more are dropped without an error: sysctl -w net.netfilter.nf_conntrack_max=1048576",
        )
    if examination.machine.memory_available is not None:
        yield _finding(
            "memory",
            f"{show_size(examination.machine.memory_available)} available",
            examination.machine.memory_available < LEAST_MEMORY,
            "the kernel takes some for every connection: stop something",
        )


def _ports(machine: Machine) -> Iterator[Finding]:
    if machine.port_range is not None and machine.ports is not None:
        low, high = machine.port_range
        yield _finding(
            "ports",
            f"{machine.ports:,} ({low}–{high}) to one address and port; on loopback torr changes"
            " its own address",
            machine.ports < LEAST_PORTS,
            "sysctl -w net.ipv4.ip_local_port_range='10000 65535', or --source-address",
        )
    if machine.tw_reuse is not None:
        yield _finding(
            "TIME-WAIT",
            f"tcp_tw_reuse {machine.tw_reuse}: {_reuse(machine)}",
            machine.tw_reuse == 0,
            "with --no-keepalive ports run out: sysctl -w net.ipv4.tcp_tw_reuse=1",
        )


def _reuse(machine: Machine) -> str:
    """Return how soon a port can be used again; TIME-WAIT always lasts a minute."""
    if machine.tw_reuse == 1:
        return "a port is used again after 1 s"
    rests = f"a port rests {TIME_WAIT_S} s"
    if machine.ports is not None:
        rests += f", so {machine.ports // TIME_WAIT_S:,} new connections/s to one address"
    if machine.tw_reuse == 0:
        return rests
    return f"on loopback a port is used again after 1 s; elsewhere {rests}"


def _queues(machine: Machine) -> Iterator[Finding]:
    """Yield limits of a server on this machine, which do not limit the generator."""
    settings = (
        ("somaxconn", machine.somaxconn, "net.core.somaxconn"),
        ("SYN backlog", machine.syn_backlog, "net.ipv4.tcp_max_syn_backlog"),
    )
    for name, value, setting in settings:
        if value is not None:
            yield _finding(
                name,
                f"{value:,} new connections may wait for a server on this machine",
                value < LEAST_QUEUE,
                f"sysctl -w {setting}=4096, and start the server again",
            )


def _target(target: DiagnosedTarget) -> Iterator[Finding]:
    if not target.is_own:
        yield Finding("target", f"{target.address} is not this machine: run torr doctor there, too")
        return
    if target.file is not None:
        yield _of_file(target.address, target.file)
        return
    if target.listeners is None:
        yield Finding("target", f"{target.address}: the kernel does not tell which process listens")
        return
    if not target.listeners:
        yield Finding("target", f"no process listens on {target.address}", "start the server first")
    for listener, process in target.listeners:
        yield from _listening(listener, process)


def _of_file(path: str, file: PathKind) -> Finding:
    """Return whether the path is a Unix socket; its listener is not examined."""
    if file == "missing":
        return Finding("target", f"{path} does not exist", "start the server first")
    if file == "other":
        return Finding("target", f"{path} is not a socket", "name the one that the server made")
    if file == "hidden":
        return Finding("target", f"{path} may not be looked at", "run as a user who may use it")
    return Finding("target", f"{path} is a Unix socket: its listener and queue are not examined")


def _listening(listener: ListeningSocket, process: SocketHolder | None) -> Iterator[Finding]:
    name = "a process" if process is None else f"{process.name} (pid {process.pid})"
    host = f"[{listener.address}]" if listener.address.version == 6 else str(listener.address)
    yield Finding("target", f"{name} listens on {host}:{listener.port}")
    yield _finding(
        "accept queue",
        f"{listener.backlog:,} may wait, {listener.waiting:,} do",
        listener.backlog < LEAST_QUEUE,
        f"of more than {show_connections(listener.backlog)} at once the rest try again after 1 s:"
        " raise the backlog that the server gives to listen(), or --connections-per-second",
    )
    if process is not None and process.descriptors is not None:
        yield _finding(
            "its descriptors",
            f"{process.descriptors:,}",
            process.descriptors < DEFAULT_LEVELS[-1],
            "it can hold no more connections than that: raise ulimit -n where it is started",
        )


def _limit(value: int) -> str:
    return "unlimited" if value < 0 else f"{value:,}"
