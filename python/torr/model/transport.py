"""The transport of requests: life of connections, source addresses, TLS and proxy."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.json import JsonObject, PlanPart
from torr.model.matching import Matching
from torr.model.secret_names import REDACTED
from torr.model.url import Url

HttpVersion = Literal["1.1", "2", "2c", "auto"]
"""A version of HTTP, as `--http` names it; `2c` is HTTP/2 without TLS, `auto` leaves it to TLS."""

MOST_STREAMS = 65_535
"""The most streams of a connection."""


@dataclass(frozen=True, slots=True)
class Tls(PlanPart):
    """The certificates that https trusts and shows. Files are PEM."""

    insecure: bool = False
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    resumption: bool = True

    def __post_init__(self) -> None:
        """Check what goes together."""
        require(
            not (self.insecure and self.ca),
            say("--insecure accepts any certificate: leave --cacert out"),
        )
        require(self.key is None or self.certificate is not None, say("--key needs --cert"))


@dataclass(frozen=True, slots=True)
class Proxy(PlanPart):
    """A server that passes requests on; `authorization` is the header that it asks for, if any."""

    host: str
    port: int
    authorization: str | None = None

    @classmethod
    def parse(cls, text: str) -> Proxy:
        """Read `http://[USER:PASSWORD@]HOST:PORT`; raise UsageError."""
        from torr.model.request import authorization

        url = Url.parse(text, templates=False)
        if url.scheme != "http" or url.port is None or url.target != "/" or url.socket:
            raise UsageError(
                say("{text!r} is not a proxy", text=text), say("write http://HOST:PORT")
            )
        header = None if url.userinfo is None else authorization(url.userinfo)
        return cls(url.host.strip("[]"), url.port, header)


@dataclass(frozen=True, slots=True)
class Transport(PlanPart):
    """The transport of requests, and the life of connections.

    A connection is closed after `requests_per_connection` answers; the first connections are opened
    at a rate of `connections_per_second`; `source_addresses` are used in turn. A connection of
    HTTP/2 or WebSocket carries at most `streams` requests at once; those of HTTP/2 are collected
    for `coalesce_ns` before they are sent together. `matching` and `binary` are for messages of
    WebSocket.
    """

    keepalive: bool = True
    requests_per_connection: int | None = None
    connections_per_second: float | None = None
    source_addresses: tuple[str, ...] = ()
    tls: Tls = field(default_factory=Tls)
    proxy: Proxy | None = None
    http: HttpVersion = "1.1"
    streams: int = 1
    coalesce_ns: int = 0
    matching: Matching = field(default_factory=Matching)
    binary: bool = False

    MEMBERS = (
        *("keepalive", "requests_per_connection", "connections_per_second"),
        *("source_addresses", "tls", "proxy", "http", "streams", "coalesce_ns"),
    )

    OPTIONAL = ("proxy",)

    def __post_init__(self) -> None:
        """Check the numbers, and what goes together."""
        limit, rate = self.requests_per_connection, self.connections_per_second
        require(
            limit is None or limit >= 1,
            say("{limit} requests a connection: at least 1 is needed", limit=limit),
        )
        require(
            rate is None or (math.isfinite(rate) and rate > 0),
            say("{rate} connections a second: it must be more than 0", rate=rate),
        )
        require(
            self.coalesce_ns == 0 or self.http != "1.1",
            say("--coalesce: requests of HTTP/1.1 are never sent together"),
            say("give --http 2, or --http 2c without TLS"),
        )
        require(
            self.coalesce_ns == 0 or self.streams > 1,
            say("--coalesce: a connection carries one request at a time without --streams"),
            say("give --streams N, the requests that a connection carries at once"),
        )
        require(
            1 <= self.streams <= MOST_STREAMS,
            say(
                "{streams} streams: give 1 to {most_streams}",
                streams=self.streams,
                most_streams=MOST_STREAMS,
            ),
        )
        if not self.keepalive:
            require(
                self.streams == 1,
                say("--no-keepalive and --streams are both given"),
            )
            require(
                limit is None, say("--no-keepalive and --requests-per-connection are both given")
            )
            require(rate is None, say("--no-keepalive and --connections-per-second are both given"))

    def as_json(self) -> JsonObject:
        """Return the transport of the engine's plan, without what is as usual."""
        members = PlanPart.as_json(self)
        if self.http == "1.1":
            del members["http"]
        if self.http == "1.1" and self.streams == 1:
            del members["streams"]
        if (self.matching, self.binary) != (Matching(), False):
            matching = self.matching.as_json()
            members["websocket"] = {"matching": matching, "binary": self.binary}
        if not self.coalesce_ns:
            del members["coalesce_ns"]
        return members

    def texts_with_secrets(self) -> list[str]:
        """Return texts that may contain secrets, behind the secrets' names."""
        header = None if self.proxy is None else self.proxy.authorization
        return [] if header is None else [f"proxy-authorization: {header}"]

    def redacted(self) -> Transport:
        """Return the transport without the proxy's authorization."""
        if self.proxy is None or self.proxy.authorization is None:
            return self
        return replace(self, proxy=replace(self.proxy, authorization=REDACTED))
