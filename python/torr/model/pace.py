"""The pace of requests: closed loops of users, an open-loop rate, or a replay of given times.

Each pace knows its largest number of connections, and divides itself over several endpoints: the
sum of its `parts` is the whole load. Times are integer nanoseconds.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.json import JsonObject, PlanPart
from torr.model.shares import dealt, dealt_to_each
from torr.units import SECOND_NS, parse_duration, parse_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_USERS = 2**32 - 1
"""The most users, connections or requests in flight, which the engine counts in 32 bits."""

LARGEST_SIGMA = 5.0
"""The largest sigma of a logarithm: 2 % of its values are above 30,000 times the median."""

_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)

MOST_PER_S = 10_000_000
"""The highest rate, more than any core sends; it catches mistyped rates."""


@dataclass(frozen=True, slots=True)
class Stage(PlanPart):
    """A time in which users or rate change linearly to `target`; a time of 0 is a jump."""

    duration_ns: int
    target: float

    def __post_init__(self) -> None:
        """Check the numbers."""
        fits = math.isfinite(self.target) and self.target >= 0
        require(fits, say("a stage to {target:g}: it must be 0 or more", target=self.target))

    @classmethod
    def parse_all(cls, text: str) -> tuple[Stage, ...]:
        """Read `30s:100,2m:1k,30s:0`; raise UsageError."""
        stages = []
        for part in text.split(","):
            duration, colon, target = part.partition(":")
            require(
                bool(colon),
                say("{part!r} is not a stage", part=part.strip()),
                say("write 30s:100,2m:1k,30s:0"),
            )
            stages.append(cls(parse_duration(duration), parse_rate(target)))
        require(
            any(stage.duration_ns for stage in stages) and any(stage.target for stage in stages),
            say("{text!r} is not a stage: a stage has a time and a target", text=text),
            say("write 30s:100,2m:1k,30s:0"),
        )
        return tuple(stages)


@dataclass(frozen=True, slots=True)
class Closed(PlanPart):
    """Closed loops of `users` users: each sends its next request when the last one has ended.

    They share `pool` connections, or have one each. With `stages`, `users` is the largest number.
    With `spawn_rate`, this many users per second begin, before the window.
    """

    KIND = "closed"
    OPTIONAL = ("pool", "stages", "spawn_rate")

    users: int
    pool: int | None = None
    stages: tuple[Stage, ...] = ()
    spawn_rate: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers, and what goes together."""
        users, pool = self.users, self.pool
        require(users >= 1, say("{users} connections: at least 1 is needed", users=users))
        require(
            pool is None or pool >= 1,
            say("--pool {pool}: at least 1 connection is needed", pool=pool),
        )
        require(
            pool is None or pool <= users,
            say(
                "--pool {pool}: {users:,} users need no more than {users:,} connections",
                pool=pool,
                users=users,
            ),
            say("give more users by -c, or leave --pool out"),
        )
        require(
            pool is None or not self.stages,
            say("--pool and --stages are both given"),
            say("leave one out: users who share connections all start at once"),
        )
        rate = self.spawn_rate
        if rate is not None:
            is_rate = math.isfinite(rate) and rate > 0
            require(is_rate, say("spawn rate {rate:g}: it must be more than 0 a second", rate=rate))
            is_alone = pool is None and not self.stages
            require(is_alone, say("users who share connections or have stages have no spawn rate"))

    @property
    def connections(self) -> int:
        """Return the largest number of connections."""
        return self.users if self.pool is None else self.pool

    @property
    def concurrency(self) -> int:
        """Return the number of users."""
        return self.users

    @property
    def spawning_ns(self) -> int:
        """Return the time until all users have begun."""
        return round((self.users - 1) / self.spawn_rate * SECOND_NS) if self.spawn_rate else 0

    def with_users(self, users: int) -> Closed:
        """Return the pace with another number of users, and at most as many connections."""
        require(not self.stages, say("users by --stages have no levels"), say("leave --stages out"))
        return replace(self, users=users, pool=None if self.pool is None else min(self.pool, users))

    def parts(self, shares: Sequence[int]) -> list[Closed]:
        """Return the paces of the shares: users, connections and stages, at least one user each."""
        users = dealt_to_each(self.users, shares, "user", "-c")
        pools: Sequence[int | None] = [None] * len(shares)
        if self.pool is not None:
            pools = dealt_to_each(self.pool, shares, "connection", "--pool")
            pools = [min(pair) for pair in zip(pools, users, strict=True)]
        stages = [(stage, dealt(round(stage.target), shares)) for stage in self.stages]
        return [
            Closed(
                max([users[i], *(counts[i] for _, counts in stages)]),
                pools[i],
                tuple(replace(stage, target=float(counts[i])) for stage, counts in stages),
                self.spawn_rate and self.spawn_rate * shares[i] / sum(shares),
            )
            for i in range(len(shares))
        ]


@dataclass(frozen=True, slots=True)
class Open(PlanPart):
    """Open-loop requests at `rate_per_s`, over at most `connections`, however slow the target is.

    With `stages`, `rate_per_s` is the highest rate.
    """

    MEMBERS = ("rate_per_s", "connections", "max_in_flight", "stages")
    OPTIONAL = ("stages",)

    rate_per_s: float
    arrivals: Literal["constant", "poisson"] = "constant"
    connections: int = 100
    max_in_flight: int | None = None
    stages: tuple[Stage, ...] = ()

    def __post_init__(self) -> None:
        """Check the numbers."""
        positive = math.isfinite(self.rate_per_s) and self.rate_per_s > 0
        require(
            positive,
            say("rate {rate_per_s:g}: it must be more than 0 a second", rate_per_s=self.rate_per_s),
        )
        require(
            self.rate_per_s <= MOST_PER_S,
            say(
                "rate {rate_per_s:,.0f}/s: no machine sends more than {most_per_s:,} a second",
                rate_per_s=self.rate_per_s,
                most_per_s=MOST_PER_S,
            ),
            "torr doctor says what this one can",
        )
        _check_limits(self.connections, self.max_in_flight)

    @property
    def concurrency(self) -> int:
        """Return the largest number of connections."""
        return self.connections

    def parts(self, shares: Sequence[int]) -> list[Open]:
        """Return the paces of the shares: rate, and at least one connection each."""
        connections = dealt_to_each(self.connections, shares, "connection", "-c")
        limits: Sequence[int | None] = [None] * len(shares)
        if self.max_in_flight is not None:
            limits = dealt_to_each(self.max_in_flight, shares, "request", "--max-in-flight")
        return [
            replace(
                self,
                rate_per_s=self.rate_per_s * share / sum(shares),
                connections=connections[i],
                max_in_flight=limits[i],
                stages=tuple(
                    replace(stage, target=stage.target * share / sum(shares))
                    for stage in self.stages
                ),
            )
            for i, share in enumerate(shares)
        ]

    def as_json(self) -> JsonObject:
        """Return the `pace` of the engine's plan."""
        return {"kind": self.arrivals, **PlanPart.as_json(self)}


@dataclass(frozen=True, slots=True)
class Replay(PlanPart):
    """Requests at ascending times from the start of the window.

    The plan on disk leaves the times out, since the file has them that they were read from.
    """

    KIND = "replay"

    offsets_ns: Sequence[int]
    connections: int = 100
    max_in_flight: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        _check_limits(self.connections, self.max_in_flight)

    @property
    def concurrency(self) -> int:
        """Return the largest number of connections."""
        return self.connections

    def parts(self, shares: Sequence[int]) -> list[Replay]:
        """Return this pace, for one endpoint; raise UsageError for several."""
        require(
            len(shares) == 1,
            say("--replay: the requests go to several endpoints"),
            say("replay onto one endpoint at a time"),
        )
        return [self]


@dataclass(frozen=True, slots=True)
class Fed(PlanPart):
    """Requests of a feed of rows: at the times of the rows, or by `connections` users.

    A user plays one session after another. At most `connections` requests are under way at once.
    """

    KIND = "fed"
    OPTIONAL = ("max_in_flight",)

    connections: int
    is_timed: bool
    max_in_flight: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        _check_limits(self.connections, self.max_in_flight)

    @property
    def concurrency(self) -> int:
        """Return the number of users, or the largest number of connections."""
        return self.connections

    def with_users(self, users: int) -> Fed:
        """Return the pace with another number of users."""
        require(not self.is_timed, say("a trace that is replayed by its times has no users"))
        return replace(self, connections=users)

    def parts(self, shares: Sequence[int]) -> list[Fed]:
        """Return this pace, for one endpoint; raise UsageError for several."""
        require(
            len(shares) == 1,
            say("--trace: the requests go to several endpoints"),
            say("send the trace to one endpoint at a time"),
        )
        return [self]


Pace = Closed | Open | Replay | Fed


def has_stages(pace: Pace) -> bool:
    """Return whether the users or the rate of a pace change with time."""
    return isinstance(pace, Closed | Open) and bool(pace.stages)


def is_closed(pace: Pace) -> bool:
    """Return whether users wait for their responses, so that no request is due at a time."""
    return isinstance(pace, Closed) or (isinstance(pace, Fed) and not pace.is_timed)


@dataclass(frozen=True, slots=True)
class Think(PlanPart):
    """The time between a response and the user's next request.

    It is uniform from `from_ns` to `to_ns`; exponential with `mean_ns`; normal with `deviation_ns`
    too, where times below 0 are 0; or lognormal with a median and the sigma of the logarithm.
    """

    from_ns: int = 0
    to_ns: int = 0
    mean_ns: int | None = None
    deviation_ns: int | None = None
    median_ns: int | None = None
    sigma: float = 0.0

    def __post_init__(self) -> None:
        """Check the times."""
        require(self.from_ns <= self.to_ns, say("the longest time is below the shortest"))
        require(
            0 <= self.sigma <= LARGEST_SIGMA,
            say("the sigma {text!r} is too large", text=f"{self.sigma:g}"),
            say("the maximum is {largest:g}", largest=LARGEST_SIGMA),
        )

    @classmethod
    def parse(cls, text: str) -> Think:
        """Read `1s`, `1s-3s`, `exp:2s`, `normal:2s,500ms` or `lognormal:2s,0.6`.

        Raise UsageError.
        """
        kind, colon, numbers = text.partition(":")
        if colon:
            return cls._distribution(text, kind.strip(), *numbers.split(","))
        low, dash, high = text.partition("-")
        shortest = parse_duration(low)
        return cls(shortest, parse_duration(high) if dash else shortest)

    @classmethod
    def _distribution(cls, text: str, kind: str, first: str, *more: str) -> Think:
        match kind, more:
            case "exp", ():
                return cls(mean_ns=parse_duration(first))
            case "normal", (deviation,):
                return cls(mean_ns=parse_duration(first), deviation_ns=parse_duration(deviation))
            case "lognormal", (sigma,) if _NUMBER.fullmatch(sigma.strip()):
                return cls(median_ns=parse_duration(first), sigma=float(sigma))
        raise UsageError(
            say("{text!r} is not a distribution of times", text=text),
            say("write 1s, 1s-3s, exp:2s, normal:2s,500ms or lognormal:2s,0.6"),
        )

    def as_json(self) -> JsonObject:
        """Return the `think` of the engine's plan."""
        if self.median_ns is not None:
            return {"kind": "lognormal", "median_ns": self.median_ns, "sigma": self.sigma}
        if self.mean_ns is not None and self.deviation_ns is not None:
            numbers = {"mean_ns": self.mean_ns, "deviation_ns": self.deviation_ns}
            return {"kind": "normal", **numbers}
        if self.mean_ns is not None:
            return {"kind": "exponential", "mean_ns": self.mean_ns}
        return {"kind": "uniform", "from_ns": self.from_ns, "to_ns": self.to_ns}


def _check_limits(connections: int, limit: int | None) -> None:
    require(
        connections >= 1,
        say("{connections} connections: at least 1 is needed", connections=connections),
    )
    require(
        limit is None or limit >= 1, say("{limit} in flight: at least 1 is needed", limit=limit)
    )
