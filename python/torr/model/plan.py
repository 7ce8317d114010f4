"""A plan: which load goes where, when and until when.

The one thing that the engine is started with. Frozen dataclasses, since they load in a few
milliseconds; each checks itself when it is made, and nothing looks again. Times are integer
nanoseconds. A plan holds no file name, no experiment and no opinion about results.
"""

from __future__ import annotations

import base64
import json
import math
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from torr.errors import UsageError
from torr.model.secrets import REDACTED, is_secret, redacted_text
from torr.model.url import Url

VERSION = 1
SECOND_NS = 1_000_000_000
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAKS = re.compile(r"[\r\n\x00]")

Json = dict[str, Any]
Header = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, how long its answer may take and which statuses are accepted."""

    url: str
    method: str = "GET"
    headers: tuple[Header, ...] = ()
    body: bytes | None = None
    timeout_ns: int = 30 * SECOND_NS
    accept_statuses: tuple[tuple[int, int], ...] = ((200, 399),)
    name: str = ""

    def __post_init__(self) -> None:
        """Check the parts; a user and password in the URL become a header."""
        check_method(self.method)
        for header in self.headers:
            check_header(header)
        _check(self.timeout_ns > 0, "the timeout must be longer than 0")
        url = Url.parse(self.url)
        object.__setattr__(self, "url", str(url))
        object.__setattr__(self, "name", self.name or f"{self.method} {url.path}")
        if url.userinfo is not None and not self._has_header("authorization"):
            object.__setattr__(self, "headers", (*self.headers, _basic(url.userinfo)))

    def with_default_headers(self, version: str) -> Request:
        """The same with `user-agent` and `accept`, where the user gave none."""
        defaults = (("user-agent", f"torr/{version}"), ("accept", "*/*"))
        missing = tuple(header for header in defaults if not self._has_header(header[0]))
        return replace(self, headers=(*missing, *self.headers))

    def _has_header(self, name: str) -> bool:
        return any(key.lower() == name for key, _ in self.headers)

    def as_json(self) -> Json:
        """The contract's `request`."""
        return {
            "name": self.name,
            "method": self.method,
            "url": self.url,
            "headers": [list(header) for header in self.headers],
            "body": None if self.body is None else base64.b64encode(self.body).decode("ascii"),
            "timeout_ns": self.timeout_ns,
            "accept_statuses": [list(span) for span in self.accept_statuses],
        }

    def redacted(self) -> Request:
        """The same without what must not be written to disk."""
        headers = tuple((k, REDACTED if is_secret(k) else v) for k, v in self.headers)
        body = self.body
        if body is not None:
            # latin-1 maps every byte to one character and back, so a binary body survives.
            body = redacted_text(body.decode("latin-1")).encode("latin-1")
        return replace(self, url=redacted_text(self.url), headers=headers, body=body)


@dataclass(frozen=True, slots=True)
class Closed:
    """`users` users, each sending its next request when the last one has ended."""

    users: int

    def __post_init__(self) -> None:
        """Check the number."""
        _check(self.users >= 1, f"{self.users} connections: at least 1 is needed")

    def as_json(self) -> Json:
        """The contract's `pace`."""
        return {"kind": "closed", "users": self.users}


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
        _check(positive, f"rate {self.rate_per_s:g}: it must be more than 0 a second")
        _check(self.connections >= 1, f"{self.connections} connections: at least 1 is needed")
        limit = self.max_in_flight
        _check(limit is None or limit >= 1, f"{limit} in flight: at least 1 is needed")

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

    @property
    def connections(self) -> int:
        """How many connections it may use."""
        return self.pace.users if isinstance(self.pace, Closed) else self.pace.connections

    def as_json(self) -> Json:
        """The contract's group."""
        source = {"kind": "one", "request": self.request.as_json()}
        return {"name": self.name, "pace": self.pace.as_json(), "source": source}


@dataclass(frozen=True, slots=True)
class Duration:
    """Stop when the measured window has lasted this long."""

    duration_ns: int

    def __post_init__(self) -> None:
        """Check the time."""
        _check(self.duration_ns > 0, "the duration must be longer than 0")

    def as_json(self) -> Json:
        """The contract's `stop`."""
        return {"kind": "duration", "duration_ns": self.duration_ns}


@dataclass(frozen=True, slots=True)
class Count:
    """Stop when this many requests were started in the measured window."""

    requests: int

    def __post_init__(self) -> None:
        """Check the number."""
        _check(self.requests >= 1, f"{self.requests} requests: at least 1 is needed")

    def as_json(self) -> Json:
        """The contract's `stop`."""
        return {"kind": "requests", "requests": self.requests}


@dataclass(frozen=True, slots=True)
class Plan:
    """Groups, transport and stop: everything that the engine needs to know."""

    groups: tuple[Group, ...]
    stop: Duration | Count
    keepalive: bool = True
    warmup_ns: int = 2 * SECOND_NS
    drain_ns: int = 30 * SECOND_NS
    retry_delay_ns: int = SECOND_NS // 10
    workers: int = 1
    seed: int = 1
    log: str | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        _check(bool(self.groups), "a plan needs a group")
        _check(self.workers >= 1, f"{self.workers} workers: at least 1 is needed")
        for name in ("warmup_ns", "drain_ns", "retry_delay_ns", "seed"):
            _check(getattr(self, name) >= 0, f"{name.removesuffix('_ns')} must not be negative")

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
            "transport": {"keepalive": self.keepalive},
            "stop": self.stop.as_json(),
            "warmup_ns": self.warmup_ns,
            "drain_ns": self.drain_ns,
            "retry_delay_ns": self.retry_delay_ns,
            "slice_ns": self.slice_ns,
            "workers": self.workers,
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


def check_method(method: str) -> None:
    """Refuse what is not a method; raises UsageError."""
    _check(bool(_TOKEN.fullmatch(method)), f"method {method!r} is not a word such as GET")
    _check(method.upper() != "CONNECT", "method CONNECT asks for a tunnel, which torr does not dig")


def check_header(header: Header) -> None:
    """Refuse a header that would not stay one header; raises UsageError."""
    name, value = header
    _check(bool(_TOKEN.fullmatch(name)), f"header name {name!r} is not a word such as x-user")
    _check(not _BREAKS.search(value), f"header {name!r} contains a newline: a header is one line")


def _basic(userinfo: str) -> Header:
    from urllib.parse import unquote_to_bytes

    return "authorization", "Basic " + base64.b64encode(unquote_to_bytes(userinfo)).decode("ascii")


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise UsageError(message)
