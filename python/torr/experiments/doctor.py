"""`torr doctor`: examine this machine, and measure what load the engine can generate on it.

The load goes to a target in this process and takes about four seconds; the URL of the user gets no
request. `diagnosis` judges the examination.
"""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from torr import engine, targets
from torr.errors import require
from torr.experiments.interrupt import Interrupt
from torr.messages.say import say
from torr.model.generator_limits import RUN_QUEUE_RATE
from torr.model.pace import Closed, Open
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.model.url import Url
from torr.procfs.listeners import ListeningSocket, addresses, is_own, listeners
from torr.procfs.machine import Machine, machine
from torr.procfs.sockets import SocketHolder, holder_of
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from torr.results.level import Level

CONNECTIONS = 50
RATE = 1000.0
WARMUP_NS = SECOND_NS // 5
WINDOW_NS = SECOND_NS * 3 // 2

Report = Callable[[str], None]
"""Tells the user the current step."""
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


def doctor(url: str | None, report: Report) -> Examination:
    """Examine the machine, its load generation and the target; call `report` with each step."""
    target = None if url is None else target_of(url)
    before = machine()
    with _own_target() as own:
        report(say("measuring what one worker sends"))
        speed = _speed(_level(own.url, Closed(CONNECTIONS)))
        report(say("measuring how punctual timers are"))
        timers = _timers(_level(own.url, Open(RATE, connections=CONNECTIONS)))
    raised = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return Examination(before, speed, timers, raised, target)


@contextmanager
def _own_target() -> Iterator[targets.Target]:
    """Yield a target on the last core, with this thread on the others, if there are several.

    A thread starts on the cores of its parent, so that the worker does not wait for the target.
    """
    allowed = os.sched_getaffinity(0)
    last = {max(allowed)}
    try:
        os.sched_setaffinity(0, last)
        with targets.listening(targets.Hello()) as target:
            os.sched_setaffinity(0, allowed - last or allowed)
            yield target
    finally:
        os.sched_setaffinity(0, allowed)


def target_of(url: str) -> DiagnosedTarget:
    """Return the target of a URL with its listeners, if it is on this machine."""
    parts = Url.parse(url)
    if parts.socket is not None:
        return DiagnosedTarget(f"unix:{parts.socket}", is_own=True, file=_file(Path(parts.socket)))
    host = parts.host.strip("[]")
    port = parts.port or (443 if parts.scheme == "https" else 80)
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


def _level(url: str, pace: Closed | Open) -> Level:
    plan = Plan(
        groups=(Group(pace, Source.of(Request(url))),),
        stop=Duration(WINDOW_NS),
        warmup_ns=WARMUP_NS,
        drain_ns=SECOND_NS,
    )
    load = engine.start(plan)
    with Interrupt().ending(load):
        for _ in engine.intervals(load):
            pass
    return engine.level(load)


def _speed(level: Level) -> Speed:
    health = level.health
    return Speed(
        requests_per_s=level.ok_per_s,
        core_rate=sum(health.worker_cpu_rate),
        run_queue_rate=max(health.run_queue_rate or [0.0]),
        steal_rate=health.steal_rate or 0.0,
    )


def _timers(level: Level) -> Timers:
    lag = level.latency.scheduling_lag
    return Timers(lag.p50, lag.p99)
