"""Options of connections and TLS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torr.model.transport import MOST_STREAMS
from torr.options import readers
from torr.options.definition import CONNECTION, many, option, switch

if TYPE_CHECKING:
    from torr.model.matching import Matching
    from torr.model.transport import HttpVersion, Proxy


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """The transport of requests, and the lifetime of connections."""

    group: ClassVar[str] = CONNECTION

    http: HttpVersion | None = option(
        "--http",
        readers.one_of("VERSION", ("1.1", "2", "2c", "auto")),
        "version of HTTP: 1.1, 2, 2c (plain), auto [1.1]",
    )
    streams: int = option(
        "--streams",
        readers.count(MOST_STREAMS),
        "carry at most N requests at once on a connection [1]",
        default=1,
        rare=True,
    )
    matching: Matching = option(
        "--match",
        readers.MATCHING,
        "match answers of ws:// by order, id:KEY or none [order]",
        default="order",
        rare=True,
    )
    binary: bool = switch("--binary", "send ws:// messages as binary", rare=True)
    coalesce_ns: int = option(
        "--coalesce",
        readers.DURATION,
        "collect HTTP/2 requests for TIME before a write [0s]",
        default="0s",
        rare=True,
    )
    no_keepalive: bool = switch(
        "--no-keepalive", "open a new connection for each request", rare=True
    )
    requests_per_connection: int | None = option(
        "--requests-per-connection",
        readers.COUNT,
        "replace a connection after N requests [no limit]",
        rare=True,
    )
    connections_per_second: float | None = option(
        "--connections-per-second",
        readers.RATE,
        "open the first connections at this rate [no limit]",
        rare=True,
    )
    retry_delay_ns: int = option(
        "--retry-delay",
        readers.DURATION,
        "wait TIME after a failed connection attempt [100ms]",
        default="100ms",
        rare=True,
    )
    source_addresses: tuple[str, ...] = many(
        "--source-address",
        readers.ADDRESS,
        "connect from this local address (repeatable)",
        rare=True,
    )
    proxy: Proxy | None = option(
        "--proxy", readers.PROXY, "connect through http://[USER:PASSWORD@]HOST:PORT", rare=True
    )
    insecure: bool = switch("-k/--insecure", "accept any certificate")
    cacert: str | None = option(
        "--cacert",
        readers.FILE,
        "trust the certificates in FILE (PEM) [system's list]",
        rare=True,
    )
    cert: str | None = option(
        "--cert", readers.FILE, "present this client certificate (PEM)", rare=True
    )
    key: str | None = option(
        "--key", readers.FILE, "use this private key for --cert [in the --cert file]", rare=True
    )
    no_tls_resumption: bool = switch(
        "--no-tls-resumption", "do a full TLS handshake for each connection", rare=True
    )
