"""Findings of an examination of the machine: each has a value, a word, and advice if needed.

Facts that the machine does not tell have no finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr.experiments.levels import DEFAULT_LEVELS
from torr.messages.counts import counted
from torr.messages.say import say
from torr.model.generator_limits import CLOCK_ERROR_MS, LAG_MS, STEAL_RATE
from torr.self_test import RATE, WINDOW_NS
from torr.units import (
    SECOND_NS,
    show_ms,
    show_percent,
    show_rate,
    show_size,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.doctor import DiagnosedTarget, Examination, NodeExamination, PathKind
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


def node_findings(found: NodeExamination) -> tuple[Finding, ...]:
    """Return the findings of a node of a cluster, which sends and is no target."""
    return (
        *_measured(found.examination),
        *_cores(found.examination.machine),
        *_connections(found.examination),
        *_network(found),
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
    value = say(
        "{requests_per_s} requests/s at {core_rate:.0f} % of a core",
        requests_per_s=show_rate(speed.requests_per_s),
        core_rate=speed.core_rate,
    )
    if speed.cpu_us is not None:
        value = say("{value}, {cpu_us:.2g} µs of it a request", value=value, cpu_us=speed.cpu_us)
    yield Finding(say("one worker"), value)
    late = say(
        "{p50} late at p50, {p99} at p99", p50=show_ms(timers.p50_ms), p99=show_ms(timers.p99_ms)
    )
    yield _finding(
        say("timers"),
        say(
            "{late} ({rate}/s for {window_ns:g} s)",
            late=late,
            rate=show_rate(RATE),
            window_ns=WINDOW_NS / SECOND_NS,
        ),
        timers.p99_ms is None or timers.p99_ms > LAG_MS / 2,
        say("requests of --rate start late here: stop other programs, or take another machine"),
    )
    yield _finding(
        say("waiting"),
        say(
            "{run_queue_rate:.0f} % of the time for a core, beside a target of torr's own",
            run_queue_rate=speed.run_queue_rate,
        ),
        speed.was_disturbed,
        say(
            "other programs use the same cores: stop them, or give each side its own cores"
            " by taskset"
        ),
    )
    yield _finding(
        say("steal"),
        show_percent(speed.steal_rate),
        speed.steal_rate >= STEAL_RATE,
        say("the hypervisor gives the cores to other machines: measure on a machine of your own"),
    )


def _cores(machine: Machine) -> Iterator[Finding]:
    allowed = machine.cores_allowed
    yield _finding(
        say("cores"),
        say("{allowed} of {cores}", allowed=allowed, cores=machine.cores)
        if allowed < machine.cores
        else f"{allowed}",
        allowed == 1,
        say("a target on this machine shares the only core: measure it from another machine"),
    )
    if machine.quota is not None:
        yield _finding(
            say("cgroup"),
            say("{quota:g} cores' worth of time", quota=machine.quota),
            machine.quota < allowed,
            say(
                "the kernel stops torr when the quota is used up: raise it, or use --workers"
                " {maximum}",
                maximum=max(1, int(machine.quota)),
            ),
        )
    if machine.load is not None:
        yield _finding(
            say("load before"),
            say(
                "{load:.2f} on {cores} (1 minute)",
                load=machine.load,
                cores=counted(allowed, "core"),
            ),
            machine.load > BUSY_LOAD * allowed,
            say("other programs run: stop them, and wait a minute"),
        )
    yield from _clocks(machine)


def _clocks(machine: Machine) -> Iterator[Finding]:
    if machine.governors:
        yield _finding(
            say("governor"),
            ", ".join(machine.governors),
            machine.governors != ("performance",),
            say("the clock rate changes with the load: cpupower frequency-set -g performance"),
        )
    if machine.clock is not None:
        yield _finding(
            say("clock"),
            machine.clock,
            machine.clock not in CLOCKS,
            say(
                "each reading calls the kernel, several times a request: boot with"
                " clocksource=tsc if the machine has it"
            ),
        )


def _connections(examination: Examination) -> Iterator[Finding]:
    soft, hard = (_limit(value) for value in examination.machine.descriptors)
    fitting = max(0, examination.descriptors - RESERVED_DESCRIPTORS)
    yield _finding(
        say("descriptors"),
        say(
            "{descriptors:,} (soft {soft}, hard {hard}; torr raises it)",
            descriptors=examination.descriptors,
            soft=soft,
            hard=hard,
        ),
        fitting < DEFAULT_LEVELS[-1],
        say(
            "levels above {connections} do not fit: ulimit -Hn 1048576, "
            "LimitNOFILE= of a systemd unit, --ulimit nofile= of a container",
            connections=counted(fitting, "connection"),
        ),
    )
    yield from _ports(examination.machine)
    if examination.machine.conntrack is not None:
        now, most = examination.machine.conntrack
        yield _finding(
            say("conntrack"),
            say("{now:,} of {most:,} tracked", now=now, most=most),
            most - now < min(DEFAULT_LEVELS[-1], connections(examination)),
            say(
                "more are dropped without an error: sysctl -w"
                " net.netfilter.nf_conntrack_max=1048576"
            ),
        )
    if examination.machine.memory_available is not None:
        yield _finding(
            say("memory"),
            say(
                "{memory_available} available",
                memory_available=show_size(examination.machine.memory_available),
            ),
            examination.machine.memory_available < LEAST_MEMORY,
            say("the kernel uses memory for every connection: stop other programs"),
        )


def _ports(machine: Machine) -> Iterator[Finding]:
    if machine.port_range is not None and machine.ports is not None:
        low, high = machine.port_range
        yield _finding(
            say("ports"),
            say(
                "{ports:,} ({low}–{high}) to one address and port; on loopback torr changes"
                " its own address",
                ports=machine.ports,
                low=low,
                high=high,
            ),
            machine.ports < LEAST_PORTS,
            "sysctl -w net.ipv4.ip_local_port_range='10000 65535', or --source-address",
        )
    if machine.tw_reuse is not None:
        yield _finding(
            say("TIME-WAIT"),
            say(
                "tcp_tw_reuse {tw_reuse}: {reuse}", tw_reuse=machine.tw_reuse, reuse=_reuse(machine)
            ),
            machine.tw_reuse == 0,
            say("with --no-keepalive ports run out: sysctl -w net.ipv4.tcp_tw_reuse=1"),
        )


def _reuse(machine: Machine) -> str:
    """Return how soon a port can be used again; TIME-WAIT always lasts a minute."""
    if machine.tw_reuse == 1:
        return say("a port is used again after 1 s")
    rests = say("a port is blocked for {time_wait_s} s after its use", time_wait_s=TIME_WAIT_S)
    if machine.ports is not None:
        rate = machine.ports // TIME_WAIT_S
        rests = say("{rests}, so {rate:,} new connections/s to one address", rests=rests, rate=rate)
    if machine.tw_reuse == 0:
        return rests
    return say("on loopback a port is used again after 1 s; elsewhere {rests}", rests=rests)


def _network(found: NodeExamination) -> Iterator[Finding]:
    yield _finding(
        say("nice value"),
        f"{found.nice}",
        found.nice > 0,
        say(
            "the kernel prefers other programs on this node: start Ray there with"
            " RAY_worker_niceness=0"
        ),
    )
    yield Finding(say("round trip"), say("{time} at p50", time=show_ms(found.round_trip_ms)))
    yield _finding(
        say("clock error"),
        say("at most {time}", time=show_ms(found.clock_error_ms)),
        found.clock_error_ms > CLOCK_ERROR_MS,
        say("times of this node are uncertain: use nodes with a shorter round trip"),
    )
    if isinstance(found.connect, str):
        value = say("no connection: {why}", why=found.connect)
        advice = say("check the URL, and the firewall between this node and the target")
        yield Finding(say("target"), value, advice)
    elif found.connect is not None:
        yield Finding(say("target"), say("connected in {time}", time=show_ms(found.connect)))


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
                say("{value:,} new connections may wait for a server on this machine", value=value),
                value < LEAST_QUEUE,
                f"sysctl -w {setting}=4096, and start the server again",
            )


def _target(target: DiagnosedTarget) -> Iterator[Finding]:
    if not target.is_own:
        yield Finding(
            say("target"),
            say(
                "{address} is not this machine: run torr doctor there, too", address=target.address
            ),
        )
        return
    if target.file is not None:
        yield _of_file(target.address, target.file)
        return
    if target.listeners is None:
        yield Finding(
            say("target"),
            say(
                "{address}: the kernel does not show which process listens", address=target.address
            ),
        )
        return
    if not target.listeners:
        yield Finding(
            say("target"),
            say("no process listens on {address}", address=target.address),
            say("start the server first"),
        )
    for listener, process in target.listeners:
        yield from _listening(listener, process)


def _of_file(path: str, file: PathKind) -> Finding:
    """Return whether the path is a Unix socket; its listener is not examined."""
    if file == "missing":
        return Finding(
            say("target"), say("{path} does not exist", path=path), say("start the server first")
        )
    if file == "other":
        return Finding(
            say("target"),
            say("{path} is not a socket", path=path),
            say("name the one that the server made"),
        )
    if file == "hidden":
        return Finding(
            say("target"),
            say("torr has no permission to see {path}", path=path),
            say("run as a user who may use it"),
        )
    return Finding(
        say("target"),
        say("{path} is a Unix socket: its listener and queue are not examined", path=path),
    )


def _listening(listener: ListeningSocket, process: SocketHolder | None) -> Iterator[Finding]:
    name = (
        say("a process")
        if process is None
        else say("{name} (pid {pid})", name=process.name, pid=process.pid)
    )
    host = f"[{listener.address}]" if listener.address.version == 6 else str(listener.address)
    yield Finding(
        say("target"),
        say("{name} listens on {host}:{port}", name=name, host=host, port=listener.port),
    )
    yield _finding(
        say("accept queue"),
        say(
            "{waiting:,} of at most {backlog:,} wait",
            backlog=listener.backlog,
            waiting=listener.waiting,
        ),
        listener.backlog < LEAST_QUEUE,
        say(
            "if more than {connections} are opened at once, the others try again after 1"
            " s: raise the backlog of the server, or set --connections-per-second",
            connections=counted(listener.backlog, "connection"),
        ),
    )
    if process is not None and process.descriptors is not None:
        yield _finding(
            say("its descriptors"),
            f"{process.descriptors:,}",
            process.descriptors < DEFAULT_LEVELS[-1],
            say("it can hold no more connections than that: raise ulimit -n where it is started"),
        )


def _limit(value: int) -> str:
    return "unlimited" if value < 0 else f"{value:,}"
