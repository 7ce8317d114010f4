"""A plan: groups of users or of open-loop requests, their transport, and when the load stops.

The engine is started with a plan and nothing else. Its parts are frozen dataclasses, each of which
is checked once, when it is made. Times are integer nanoseconds. A plan holds no experiment and no
conditions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.feed import RowFeed
from torr.model.json import JsonObject, PlanPart
from torr.model.json_input import parse_json
from torr.model.pace import Closed, Fed, Open, Pace, Replay, Think, is_closed
from torr.model.rows import Rows
from torr.model.secrets import known_secrets
from torr.model.shares import dealt_to_each
from torr.model.transport import Transport
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.cancellation import Cancellation
    from torr.model.matching import Matching
    from torr.model.request import Request
    from torr.model.source import Source

VERSION = 1

# More than any one machine can use.
MOST_PROCESSES = 64
MOST_WORKERS = 4096

MOST_REQUESTS = 10**18
"""The most requests, which the engine counts in 64 bits."""


@dataclass(frozen=True, slots=True)
class Group(PlanPart):
    """A user group: one pace, one source, and the rows of data of its templates.

    `share` is its part of a load that is divided over several groups. Its rows and `{{seq}}` are
    `first`, `first + stride`, …, so that groups with different `first` draw none twice.
    """

    pace: Pace
    source: Source
    name: str = "default"
    think: Think | None = None
    cancel: Cancellation | None = None
    data: str | Rows | RowFeed | None = None
    share: int = 1
    first: int = 0
    stride: int = 1

    MEMBERS = ("name", "pace", "source", "think", "cancel")
    OPTIONAL = ("cancel",)

    def __post_init__(self) -> None:
        """Refuse sessions and thinking without users, and texts where nothing streams."""
        cancel = self.cancel
        require(
            cancel is None
            or cancel.texts is None
            or any(request.stream for request in self.source.requests),
            say("--cancel: only a stream has tokens after which users give up"),
            say("give a time, or add --chat or --stream"),
        )
        if isinstance(self.pace, Closed | Fed):
            return
        flag = "--replay" if isinstance(self.pace, Replay) else "--rate"
        require(
            self.think is None,
            say(
                "--think and {flag} are both given: requests of {flag} do not belong to users"
                " who think",
                flag=flag,
            ),
        )
        require(
            not self.source.has_session,
            say(
                "{flag} and --steps or --capture are both given: open-loop requests do not"
                " belong to a user",
                flag=flag,
            ),
            say(
                "leave {flag} out: users by -c go through steps and keep what they captured",
                flag=flag,
            ),
        )

    def as_json(self) -> JsonObject:
        """Return the group of the engine's plan."""
        members = PlanPart.as_json(self)
        if isinstance(self.data, str):
            members["data"] = {"path": self.data}
        elif self.data is not None:
            members["data"] = self.data.as_json()
        if (self.first, self.stride) != (0, 1):
            members |= {"first": self.first, "stride": self.stride}
        return members

    def redacted(self) -> Group:
        """Return the group without secrets, times of a replay and rows."""
        pace = replace(self.pace, offsets_ns=()) if isinstance(self.pace, Replay) else self.pace
        data = self.data.redacted() if isinstance(self.data, Rows) else self.data
        return replace(self, source=self.source.redacted(), pace=pace, data=data)


@dataclass(frozen=True, slots=True)
class Duration(PlanPart):
    """Stop when the measurement window has lasted this long."""

    duration_ns: int

    KIND = "duration"

    def __post_init__(self) -> None:
        """Check the time."""
        require(self.duration_ns > 0, say("the duration must be longer than 0"))


@dataclass(frozen=True, slots=True)
class Count(PlanPart):
    """Stop when this many requests were started in the measurement window."""

    requests: int

    KIND = "requests"

    def __post_init__(self) -> None:
        """Check the number."""
        require(
            self.requests >= 1,
            say("{requests} requests: at least 1 is needed", requests=self.requests),
        )


@dataclass(frozen=True, slots=True)
class LastRow(PlanPart):
    """Stop when the request of the feed's last row has ended."""

    KIND = "rows"


Stop = Duration | Count | LastRow


@dataclass(frozen=True, slots=True)
class Plan(PlanPart):
    """Everything that the engine needs to know: groups, transport, stop and phases."""

    groups: tuple[Group, ...]
    stop: Stop
    transport: Transport = field(default_factory=Transport)
    warmup_ns: int = 2 * SECOND_NS
    drain_ns: int = 30 * SECOND_NS
    retry_delay_ns: int = SECOND_NS // 10
    workers: int = 1
    processes: int | Literal["auto"] = 1
    seed: int = 1
    spin: bool = False
    log: str | None = None
    texts: str | None = None

    MEMBERS = (
        *("groups", "transport", "stop", "warmup_ns", "drain_ns", "retry_delay_ns", "interval_ns"),
        *("workers", "processes", "seed", "spin", "log", "texts"),
    )

    def __post_init__(self) -> None:
        """Check the numbers."""
        require(bool(self.groups), say("a plan needs a group"))
        require(
            self.workers >= 1, say("{workers} workers: at least 1 is needed", workers=self.workers)
        )
        fits = self.processes == "auto" or 1 <= self.processes <= MOST_PROCESSES
        require(
            fits,
            say(
                "{processes} processes: give 1 to {most_processes}, or auto",
                processes=self.processes,
                most_processes=MOST_PROCESSES,
            ),
        )
        for name in ("warmup_ns", "drain_ns", "retry_delay_ns", "seed"):
            require(
                getattr(self, name) >= 0,
                say("{name} must not be negative", name=name.removesuffix("_ns")),
            )

        self._check_http()
        if self.transport.proxy is not None:
            sockets = [r.unix_socket for r in self.requests if r.unix_socket is not None]
            require(not sockets, say("--proxy: a Unix socket cannot be reached through a proxy"))

    def _check_http(self) -> None:
        """Check that the version of HTTP fits the URLs."""
        http, messages = self.transport.http, [r for r in self.requests if r.is_message]
        require(
            http == "1.1" or not messages,
            say("--http: a WebSocket connection begins with HTTP/1.1"),
            say("leave --http out for ws:// and wss:// URLs"),
        )
        if messages:
            self._check_ids(messages)
        if http == "1.1":
            require(
                self.transport.streams == 1 or bool(messages),
                say("--streams: a connection of HTTP/1.1 carries one request at a time"),
                say("give --http 2, or --http 2c without TLS"),
            )
            return
        if self.transport.coalesce_ns:
            require(
                all(is_closed(group.pace) for group in self.groups),
                say("--coalesce: arrivals are never delayed"),
                say("use it with users (-c), or leave it out"),
            )
        if http == "auto":
            return
        wanted = "https" if http == "2" else "http"
        for request in self.requests:
            require(
                request.url.lower().startswith(f"{wanted}://"),
                say("--http {http}: {url} has another scheme", http=http, url=request.url),
                say("give --http 2c for http:// URLs, and --http 2 for https:// URLs"),
            )
        require(
            http == "2" or self.transport.proxy is None,
            say("--proxy does not fit HTTP/2 without TLS"),
            say("give https:// URLs, or leave --proxy out"),
        )

    def _check_ids(self, messages: Sequence[Request]) -> None:
        """Check that messages have the ID by which their answers are matched."""
        matching = self.transport.matching
        for request in messages:
            require(
                matching.kind != "id" or request.template is True or _has_key(request, matching),
                say("--match {matching}: the message has no such key", matching=matching),
                say("send a JSON object with the key {key}", key=matching.key),
            )

    @property
    def window_ns(self) -> int | None:
        """Return the length of the measurement window, None where it is not known before."""
        if isinstance(self.stop, Duration):
            return self.stop.duration_ns
        times = [g.pace.offsets_ns for g in self.groups if isinstance(g.pace, Replay)]
        lasts = [offsets[-1] for offsets in times if offsets]
        return max(lasts) if len(lasts) == len(self.groups) else None

    @property
    def interval_ns(self) -> int:
        """Return the length of an interval: 1 s, or 0.1 s for windows under 10 s."""
        window_ns = self.window_ns
        is_short = window_ns is not None and window_ns < 10 * SECOND_NS
        return SECOND_NS // 10 if is_short else SECOND_NS

    @property
    def seconds(self) -> float | None:
        """Return the seconds of warm-up and window, None where they are not known before."""
        if self.window_ns is None:
            return None
        return (self.lead_ns + self.window_ns) / SECOND_NS

    @property
    def lead_ns(self) -> int:
        """Return the time before the window, which begins when all users have begun."""
        closed = [group.pace for group in self.groups if isinstance(group.pace, Closed)]
        return max([self.warmup_ns, *(pace.spawning_ns for pace in closed)])

    @property
    def requests(self) -> list[Request]:
        """Return every request, in order."""
        return [request for group in self.groups for request in group.source.requests]

    @property
    def has_schedule(self) -> bool:
        """Return whether any request is due at a time of its own, as in an open loop."""
        return any(not is_closed(group.pace) for group in self.groups)

    @property
    def feed(self) -> RowFeed | None:
        """Return the feed of its rows, if they come while the load runs."""
        feeds = [group.data for group in self.groups if isinstance(group.data, RowFeed)]
        return feeds[0] if feeds else None

    @property
    def connections(self) -> int:
        """Return the largest number of connections."""
        return sum(group.pace.connections for group in self.groups)

    @property
    def concurrency(self) -> int:
        """Return the number of users, or of connections in an open loop."""
        return sum(group.pace.concurrency for group in self.groups)

    @property
    def rate_per_s(self) -> float | None:
        """Return the rate of an open loop, None without one."""
        rates = [g.pace.rate_per_s for g in self.groups if isinstance(g.pace, Open)]
        return sum(rates) if rates else None

    def with_users(self, users: int) -> Plan:
        """Return the plan of a ladder's level: another number of users, divided as before."""
        closed = [group.pace for group in self.groups if isinstance(group.pace, Closed | Fed)]
        require(
            not self.has_schedule,
            say(
                "the levels of a ladder are numbers of users, and a group with a rate has no users"
            ),
            say("measure such groups by torr run"),
        )
        shares = [group.share for group in self.groups]
        endpoints = {group.source.requests[0].endpoint for group in self.groups}
        parts = "endpoints" if len(endpoints) == len(shares) else "groups"
        counts = dealt_to_each(users, shares, "user", "--levels", parts)
        paces = [pace.with_users(count) for pace, count in zip(closed, counts, strict=True)]
        groups = zip(self.groups, paces, strict=True)
        return replace(self, groups=tuple(replace(g, pace=pace) for g, pace in groups))

    def with_rate(self, rate_per_s: float) -> Plan:
        """Return the plan of a ladder's level: another rate, divided over the groups as before."""
        whole = sum(group.share for group in self.groups)

        def at_rate(group: Group) -> Group:
            pace = group.pace
            if not isinstance(pace, Open):
                raise UsageError(
                    say("the levels of --rates are rates, and a group with users has none")
                )
            return replace(group, pace=replace(pace, rate_per_s=rate_per_s * group.share / whole))

        return replace(self, groups=tuple(map(at_rate, self.groups)))

    def as_json(self) -> JsonObject:
        """Return the engine's plan as a JSON object."""
        return {"version": VERSION, **PlanPart.as_json(self)}

    def to_text(self) -> str:
        """Return the engine's plan as JSON text."""
        return json.dumps(self.as_json(), separators=(",", ":"))

    def as_stored(self) -> JsonObject:
        """Return the plan that is written to disk: without secrets and times of a replay."""
        # The length of an interval depends on the times, which the redacted plan lacks.
        return self.redacted().as_json() | {"interval_ns": self.interval_ns}

    @property
    def secrets(self) -> list[str]:
        """Return the secret values that the plan sends, the longest first."""
        texts = [text for request in self.requests for text in request.texts_with_secrets()]
        return known_secrets([*texts, *self.transport.texts_with_secrets()])

    def redacted(self) -> Plan:
        """Return the plan without secrets and without the times of a replay."""
        groups = tuple(group.redacted() for group in self.groups)
        return replace(self, groups=groups, transport=self.transport.redacted())


def _has_key(request: Request, matching: Matching) -> bool:
    try:
        message = parse_json(request.body or b"")
    except ValueError:
        return False
    return isinstance(message, dict) and matching.key in message
