"""Options of connections and TLS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torr.options import readers
from torr.options.definition import CONNECTION, many, option, switch

if TYPE_CHECKING:
    from torr.model.transport import Proxy


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Over what requests travel, and how long a connection lives."""

    group: ClassVar[str] = CONNECTION

    no_keepalive: bool = switch(
        "--no-keepalive",
        rare=True,
        help="a new connection for each request",
    )
    requests_per_connection: int | None = option(
        "--requests-per-connection",
        reader=readers.COUNT,
        rare=True,
        help="then make it anew [no limit]",
    )
    connections_per_second: float | None = option(
        "--connections-per-second",
        reader=readers.RATE,
        rare=True,
        help="open the first ones at this rate",
    )
    retry_delay_ns: int = option(
        "--retry-delay",
        reader=readers.DURATION,
        default="100ms",
        rare=True,
        help="pause after a failed dial [100ms]",
    )
    source_addresses: tuple[str, ...] = many(
        "--source-address",
        reader=readers.ADDRESS,
        rare=True,
        help="leave from this one (repeatable)",
    )
    proxy: Proxy | None = option(
        "--proxy",
        reader=readers.PROXY,
        rare=True,
        help="through http://[USER:PASSWORD@]HOST:PORT",
    )
    insecure: bool = switch(
        *("-k", "--insecure"),
        help="accept any certificate",
    )
    cacert: str | None = option(
        "--cacert",
        reader=readers.FILE,
        rare=True,
        help="trust this PEM file [the machine's list]",
    )
    cert: str | None = option(
        "--cert",
        reader=readers.FILE,
        rare=True,
        help="show this certificate (PEM)",
    )
    key: str | None = option(
        "--key",
        reader=readers.FILE,
        rare=True,
        help="its private key [in --cert]",
    )
    no_tls_resumption: bool = switch(
        "--no-tls-resumption",
        rare=True,
        help="a full handshake for each connection",
    )
