"""Over what requests travel: a connection's life, where it leaves from, how TLS is spoken."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from torr.errors import require

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tls:
    """How https is spoken: whom to trust, and what to show. Files are PEM."""

    insecure: bool = False
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    resumption: bool = True

    def __post_init__(self) -> None:
        """Check what goes together."""
        require(not (self.insecure and self.ca), "--insecure trusts anyone: leave --cacert out")
        require(self.key is None or self.certificate is not None, "--key needs --cert")

    def as_json(self) -> Json:
        """The contract's `tls`."""
        return {
            "insecure": self.insecure,
            "ca": self.ca,
            "certificate": self.certificate,
            "key": self.key,
            "resumption": self.resumption,
        }


@dataclass(frozen=True, slots=True)
class Transport:
    """Over what requests travel, and how long a connection lives.

    `requests_per_connection` closes a connection after so many answers; `connections_per_second`
    is the rate at which the first ones are opened; `source_addresses` are used in turn.
    """

    keepalive: bool = True
    requests_per_connection: int | None = None
    connections_per_second: float | None = None
    source_addresses: tuple[str, ...] = ()
    tls: Tls = field(default_factory=Tls)

    def __post_init__(self) -> None:
        """Check the numbers, and what goes together."""
        limit, rate = self.requests_per_connection, self.connections_per_second
        require(limit is None or limit >= 1, f"{limit} requests a connection: at least 1 is needed")
        require(
            rate is None or (math.isfinite(rate) and rate > 0),
            f"{rate} connections a second: it must be more than 0",
        )
        if not self.keepalive:
            require(limit is None, "--no-keepalive and --requests-per-connection are both given")
            require(rate is None, "--no-keepalive and --connections-per-second are both given")

    def as_json(self) -> Json:
        """The contract's `transport`."""
        return {
            "keepalive": self.keepalive,
            "requests_per_connection": self.requests_per_connection,
            "connections_per_second": self.connections_per_second,
            "source_addresses": list(self.source_addresses),
            "tls": self.tls.as_json(),
        }
