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
    """The transport of requests, and the lifetime of connections."""

    group: ClassVar[str] = CONNECTION

    no_keepalive: bool = switch("--no-keepalive", "a new connection for each request", rare=True)
    requests_per_connection: int | None = option(
        "--requests-per-connection", readers.COUNT, "then make it anew [no limit]", rare=True
    )
    connections_per_second: float | None = option(
        "--connections-per-second", readers.RATE, "open the first ones at this rate", rare=True
    )
    retry_delay_ns: int = option(
        "--retry-delay",
        readers.DURATION,
        "pause after a failed dial [100ms]",
        default="100ms",
        rare=True,
    )
    source_addresses: tuple[str, ...] = many(
        "--source-address", readers.ADDRESS, "leave from this one (repeatable)", rare=True
    )
    proxy: Proxy | None = option(
        "--proxy", readers.PROXY, "through http://[USER:PASSWORD@]HOST:PORT", rare=True
    )
    insecure: bool = switch("-k/--insecure", "accept any certificate")
    cacert: str | None = option(
        "--cacert", readers.FILE, "trust this PEM file [the machine's list]", rare=True
    )
    cert: str | None = option("--cert", readers.FILE, "show this certificate (PEM)", rare=True)
    key: str | None = option("--key", readers.FILE, "its private key [in --cert]", rare=True)
    no_tls_resumption: bool = switch(
        "--no-tls-resumption", "a full handshake for each connection", rare=True
    )
