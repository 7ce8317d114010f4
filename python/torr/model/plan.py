"""A plan: which load goes where, when and until when.

The one thing that the engine is started with. Frozen dataclasses, since they load in a few
milliseconds; each checks itself when it is made, and nothing looks again. Times are integer
nanoseconds. A plan holds no file name, no experiment and no opinion about results.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from torr.errors import require
from torr.model.transport import Transport
from torr.units import SECOND_NS, parse_duration

if TYPE_CHECKING:
    from torr.model.request import Request

VERSION = 1

# More would not find work on any one machine.
MOST_PROCESSES = 64

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Closed:
    """`users` users, each sending its next request when the last one has ended."""

    users: int

    def __post_init__(self) -> None:
        """Check the number."""
        require(self.users >= 1, f"{self.users} connections: at least 1 is needed")

    def as_json(self) -> Json:
        """The contract's `pace`."""
        return {"kind": "closed", "users": self.users}


@dataclass(frozen=True, slots=True)
class Think:
    """How long a user thinks after each answer: a uniform or an exponential time."""

    from_ns: int = 0
    to_ns: int = 0
    mean_ns: int | None = None

    def __post_init__(self) -> None:
        """Check the times."""
        require(self.from_ns <= self.to_ns, "the longest thought is shorter than the shortest")

    @classmethod
    def parse(cls, text: str) -> Think:
        """Read `1s`, `1s-3s` or `exp:2s`; raises UsageError."""
        kind, colon, mean = text.partition(":")
        if colon:
            require(
                kind.strip() == "exp", f"{text!r} is no time to think", "write 1s, 1s-3s or exp:2s"
            )
            return cls(mean_ns=parse_duration(mean))
        low, dash, high = text.partition("-")
        shortest = parse_duration(low)
        return cls(shortest, parse_duration(high) if dash else shortest)

    def as_json(self) -> Json:
        """The contract's `think`."""
        if self.mean_ns is not None:
            return {"kind": "exponential", "mean_ns": self.mean_ns}
        return {"kind": "uniform", "from_ns": self.from_ns, "to_ns": self.to_ns}


@dataclass(frozen=True, slots=True)
class Open:
    """Requests that start at `rate_per_s` whatever the target does, over at most `connections`."""

    rate_per_s: float
    arrivals: Literal["constant", "poisson"] = "constant"
    connections: int = 100
    max_in_flight: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        positive = math.isfinite(self.rate_per_s) and self.rate_per_s > 0
        require(positive, f"rate {self.rate_per_s:g}: it must be more than 0 a second")
        require(self.connections >= 1, f"{self.connections} connections: at least 1 is needed")
        limit = self.max_in_flight
        require(limit is None or limit >= 1, f"{limit} in flight: at least 1 is needed")

    def as_json(self) -> Json:
        """The contract's `pace`."""
        return {
            "kind": self.arrivals,
            "rate_per_s": float(self.rate_per_s),
            "connections": self.connections,
            "max_in_flight": self.max_in_flight,
        }


@dataclass(frozen=True, slots=True)
class Group:
    """Users of one kind: when they send, and what."""

    pace: Closed | Open
    request: Request
    name: str = "default"
    think: Think | None = None

    def __post_init__(self) -> None:
        """Check what goes together."""
        fits = self.think is None or isinstance(self.pace, Closed)
        require(fits, "--think and --rate are both given: users think, arrivals do not")

    @property
    def connections(self) -> int:
        """How many connections it may use."""
        return self.pace.users if isinstance(self.pace, Closed) else self.pace.connections

    def as_json(self) -> Json:
        """The contract's group."""
        source = {"kind": "one", "request": self.request.as_json()}
        think = None if self.think is None else self.think.as_json()
        return {"name": self.name, "pace": self.pace.as_json(), "source": source, "think": think}


@dataclass(frozen=True, slots=True)
class Duration:
    """Stop when the measured window has lasted this long."""

    duration_ns: int

    def __post_init__(self) -> None:
        """Check the time."""
        require(self.duration_ns > 0, "the duration must be longer than 0")

    def as_json(self) -> Json:
        """The contract's `stop`."""
        return {"kind": "duration", "duration_ns": self.duration_ns}


@dataclass(frozen=True, slots=True)
class Count:
    """Stop when this many requests were started in the measured window."""

    requests: int

    def __post_init__(self) -> None:
        """Check the number."""
        require(self.requests >= 1, f"{self.requests} requests: at least 1 is needed")

    def as_json(self) -> Json:
        """The contract's `stop`."""
        return {"kind": "requests", "requests": self.requests}


@dataclass(frozen=True, slots=True)
class Plan:
    """Groups, transport and stop: everything that the engine needs to know."""

    groups: tuple[Group, ...]
    stop: Duration | Count
    transport: Transport = field(default_factory=Transport)
    warmup_ns: int = 2 * SECOND_NS
    drain_ns: int = 30 * SECOND_NS
    retry_delay_ns: int = SECOND_NS // 10
    workers: int = 1
    processes: int | Literal["auto"] = 1
    seed: int = 1
    log: str | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        require(bool(self.groups), "a plan needs a group")
        require(self.workers >= 1, f"{self.workers} workers: at least 1 is needed")
        fits = self.processes == "auto" or 1 <= self.processes <= MOST_PROCESSES
        require(fits, f"{self.processes} processes: 1 to {MOST_PROCESSES}, or auto")
        for name in ("warmup_ns", "drain_ns", "retry_delay_ns", "seed"):
            require(getattr(self, name) >= 0, f"{name.removesuffix('_ns')} must not be negative")

    @property
    def slice_ns(self) -> int:
        """One second, or a tenth for measured windows under 10 s."""
        short = isinstance(self.stop, Duration) and self.stop.duration_ns < 10 * SECOND_NS
        return SECOND_NS // 10 if short else SECOND_NS

    @property
    def seconds(self) -> float | None:
        """How long warm-up and window last, when that is known before."""
        if isinstance(self.stop, Count):
            return None
        return (self.warmup_ns + self.stop.duration_ns) / SECOND_NS

    @property
    def connections(self) -> int:
        """How many connections are asked for."""
        return sum(group.connections for group in self.groups)

    @property
    def rate_per_s(self) -> float | None:
        """The rate asked for, when the pace is an open one."""
        rates = [g.pace.rate_per_s for g in self.groups if isinstance(g.pace, Open)]
        return sum(rates) if rates else None

    def with_users(self, users: int) -> Plan:
        """The same load from another number of users: a ladder's level."""
        return replace(self, groups=tuple(replace(g, pace=Closed(users)) for g in self.groups))

    def as_json(self) -> Json:
        """The contract's plan, as a value."""
        return {
            "version": VERSION,
            "groups": [group.as_json() for group in self.groups],
            "transport": self.transport.as_json(),
            "stop": self.stop.as_json(),
            "warmup_ns": self.warmup_ns,
            "drain_ns": self.drain_ns,
            "retry_delay_ns": self.retry_delay_ns,
            "slice_ns": self.slice_ns,
            "workers": self.workers,
            "processes": self.processes,
            "seed": self.seed,
            "log": self.log,
        }

    def to_text(self) -> str:
        """The contract's plan, as the engine takes it."""
        return json.dumps(self.as_json(), separators=(",", ":"))

    def redacted(self) -> Plan:
        """The same without secrets: what is written to disk."""
        groups = tuple(replace(g, request=g.request.redacted()) for g in self.groups)
        return replace(self, groups=groups)
