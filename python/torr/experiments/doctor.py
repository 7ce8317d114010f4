"""`torr doctor`: examine this machine, and measure what load the engine can generate on it.

The load goes to a target in this process and takes about four seconds; the URL of the user gets no
request. `diagnosis` judges the examination.
"""

from __future__ import annotations

import resource
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from torr import engine
from torr.errors import require
from torr.messages.say import say
from torr.model.generator_limits import RUN_QUEUE_RATE
from torr.model.url import Url
from torr.procfs.listeners import ListeningSocket, addresses, is_own, listeners
from torr.procfs.machine import Machine, machine
from torr.procfs.sockets import SocketHolder, holder_of
from torr.self_test import WINDOW_NS, Report, send_loads

if TYPE_CHECKING:
    from torr.results.level import Level

PathKind = Literal["socket", "other", "missing", "hidden"]


@dataclass(frozen=True, slots=True)
class Speed:
    """The throughput of one worker, and its shares of a core, in percent."""

    requests_per_s: float
    core_rate: float
    run_queue_rate: float
    steal_rate: float

    @property
    def per_core(self) -> float | None:
        """Requests per second that a whole core of the generator would send."""
        return 100 * self.requests_per_s / self.core_rate if self.core_rate > 0 else None

    @property
    def was_disturbed(self) -> bool:
        """Whether other threads used the core of the worker."""
        return self.run_queue_rate >= RUN_QUEUE_RATE

    @property
    def cpu_us(self) -> float | None:
        """Processor time of one request."""
        return 1e6 / self.per_core if self.per_core else None


@dataclass(frozen=True, slots=True)
class Timers:
    """Scheduling lag of requests at a constant rate, in milliseconds."""

    p50_ms: float | None
    p99_ms: float | None


@dataclass(frozen=True, slots=True)
class DiagnosedTarget:
    """The target of a URL; `listeners` is None where the kernel does not tell.

    `file` is the kind of the path of a Unix socket, whose listeners are not examined.
    """

    address: str
    is_own: bool
    listeners: tuple[tuple[ListeningSocket, SocketHolder | None], ...] | None = None
    file: PathKind | None = None


@dataclass(frozen=True, slots=True)
class Examination:
    """The examined facts; `descriptors` is the limit after the engine raised it."""

    machine: Machine
    speed: Speed
    timers: Timers
    descriptors: int
    target: DiagnosedTarget | None = None


@dataclass(frozen=True, slots=True)
class NodeExamination:
    """The examination of a node of a cluster, and of the network between it and this machine.

    `connect` is what a connection from the node to the target took in milliseconds, or why there is
    none; None without a target.
    """

    node: str
    examination: Examination
    nice: int
    round_trip_ms: float
    clock_error_ms: float
    connect: float | str | None = None


def doctor(url: str | None, report: Report) -> Examination:
    """Examine the machine, its load generation and the target; call `report` with each step."""
    target = None if url is None else target_of(url)
    before = machine()
    speed, timers = send_loads(engine.start, report, WINDOW_NS)
    raised = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return Examination(
        before, speed_of(engine.level(speed)), timers_of(engine.level(timers)), raised, target
    )


def target_of(url: str) -> DiagnosedTarget:
    """Return the target of a URL with its listeners, if it is on this machine."""
    parts = Url.parse(url)
    if parts.socket is not None:
        return DiagnosedTarget(f"unix:{parts.socket}", is_own=True, file=_file(Path(parts.socket)))
    host = parts.host.strip("[]")
    port = parts.endpoint[2]
    name = f"{parts.host}:{port}"
    resolved = addresses(host, port)
    require(
        bool(resolved),
        say("cannot resolve {host!r}", host=host),
        say("check the name, or the DNS of this machine"),
    )
    own = [address for address in resolved if is_own(address)]
    if not own:
        return DiagnosedTarget(name, is_own=False)
    sockets = listeners(port)
    if sockets is None:
        return DiagnosedTarget(name, is_own=True)
    matching = [x for x in sockets if any(x.accepts(address) for address in own)]
    return DiagnosedTarget(name, True, tuple((x, holder_of(x.inode)) for x in matching))


def _file(path: Path) -> PathKind:
    """Return the kind of a path, without connecting to it."""
    try:
        return "socket" if stat.S_ISSOCK(path.stat().st_mode) else "other"
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except OSError:
        return "hidden"


def speed_of(level: Level) -> Speed:
    """Return what the worker of a closed load of `torr doctor` sent."""
    health = level.health
    return Speed(
        requests_per_s=level.ok_per_s,
        core_rate=sum(health.worker_cpu_rate),
        run_queue_rate=max(health.run_queue_rate or [0.0]),
        steal_rate=health.steal_rate or 0.0,
    )


def timers_of(level: Level) -> Timers:
    """Return how late the requests of the constant rate of `torr doctor` were started."""
    lag = level.latency.scheduling_lag
    return Timers(lag.p50, lag.p99)
