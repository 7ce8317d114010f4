"""`torr doctor`: what this machine can generate, measured with the engine before it is trusted.

Fires at a target of its own, in this process; at the URL that is asked about nothing is sent. Takes
about four seconds. Judges nothing: see diagnosis.
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

BUSY_RATE = 10.0
"""Percent of the time that a worker waits for a core: what the engine calls contended."""

Say = Callable[[str], None]
File = Literal["socket", "other", "missing", "hidden"]


@dataclass(frozen=True, slots=True)
class Speed:
    """What one worker answered for, and the share of a core that it took: shares in percent."""

    requests_per_s: float
    core_rate: float
    run_queue_rate: float
    steal_rate: float

    @property
    def per_core(self) -> float | None:
        """Requests a second that a whole core of the generator would make."""
        return 100 * self.requests_per_s / self.core_rate if self.core_rate > 0 else None

    @property
    def was_disturbed(self) -> bool:
        """Whether others wanted the worker's core: then it met more answers at each turn."""
        return self.run_queue_rate >= BUSY_RATE

    @property
    def cpu_us(self) -> float | None:
        """Processor time of a worker for one request."""
        return 1e6 / self.per_core if self.per_core else None


@dataclass(frozen=True, slots=True)
class Timers:
    """How late requests started that were due at a constant rate, in milliseconds."""

    p50_ms: float | None
    p99_ms: float | None


@dataclass(frozen=True, slots=True)
class DiagnosedTarget:
    """The target of a URL; `listeners` is None where the kernel does not tell.

    `file` is what stands at the path of a Unix socket, whose listeners are not asked for.
    """

    where: str
    is_own: bool
    listeners: tuple[tuple[ListeningSocket, SocketHolder | None], ...] | None = None
    file: File | None = None


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that was looked at; `descriptors` is the limit after the engine raised it."""

    machine: Machine
    speed: Speed
    timers: Timers
    descriptors: int
    place: DiagnosedTarget | None = None


def doctor(url: str | None, say: Say) -> Examination:
    """Look at the machine, measure, look at the target; `say` accepts what is being done."""
    place = None if url is None else place_of(url)
    before = machine()
    with _target_apart() as target:
        say("measuring what one worker sends")
        speed = _speed(_level(target.url, Closed(CONNECTIONS)))
        say("measuring how punctual timers are")
        timers = _timers(_level(target.url, Open(RATE, connections=CONNECTIONS)))
    raised = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return Examination(before, speed, timers, raised, place)


@contextmanager
def _target_apart() -> Iterator[targets.Target]:
    """A target on the last core, and this thread on the others, where there is more than one.

    Threads start where the thread is that makes them: so the worker never waits for the target.
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


def place_of(url: str) -> DiagnosedTarget:
    """Where a URL leads and, if that is this machine, who listens there."""
    parts = Url.parse(url)
    if parts.socket is not None:
        return DiagnosedTarget(f"unix:{parts.socket}", is_own=True, file=_file(Path(parts.socket)))
    host = parts.host.strip("[]")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    where = f"{parts.host}:{port}"
    found_addresses = addresses(host, port)
    require(bool(found_addresses), f"cannot resolve {host!r}", "check the name, or the DNS of here")
    own = [address for address in found_addresses if is_own(address)]
    if not own:
        return DiagnosedTarget(where, is_own=False)
    found = listeners(port)
    if found is None:
        return DiagnosedTarget(where, is_own=True)
    hearing = [each for each in found if any(each.accepts(address) for address in own)]
    return DiagnosedTarget(where, True, tuple((each, holder_of(each.inode)) for each in hearing))


def _file(path: Path) -> File:
    """What stands at a path; nobody is called there."""
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
    try:
        for _ in engine.intervals(load):
            pass
    except BaseException:
        load.abort()
        raise
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
