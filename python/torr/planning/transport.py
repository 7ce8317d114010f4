"""The transport of requests, from the options of connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.model.transport import Tls, Transport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.request import Request
    from torr.model.transport import HttpVersion
    from torr.options.connection import ConnectionOptions


def transport_of(options: ConnectionOptions, requests: Sequence[Request]) -> Transport:
    """Return the transport of requests; raise UsageError that names the flag."""
    shortest_ns = min((request.timeout_ns for request in requests), default=None)
    require(
        shortest_ns is None or options.coalesce_ns < shortest_ns,
        say("--coalesce is not shorter than --timeout: requests would time out before a write"),
        say("torr collects for microseconds as a rule: --coalesce 300us"),
    )
    tls = Tls(
        insecure=options.insecure,
        ca=options.cacert,
        certificate=options.cert,
        key=options.key,
        resumption=not options.no_tls_resumption,
    )
    return Transport(
        keepalive=not options.no_keepalive,
        requests_per_connection=options.requests_per_connection,
        connections_per_second=options.connections_per_second,
        source_addresses=options.source_addresses,
        tls=tls,
        proxy=options.proxy,
        http=_http(options, requests),
        streams=options.streams,
        coalesce_ns=options.coalesce_ns,
        matching=options.matching,
        binary=options.binary,
    )


def http_of_calls(options: ConnectionOptions, url: str) -> HttpVersion:
    """Return the version of HTTP for calls of gRPC to a server, which is HTTP/2."""
    require(
        options.http not in ("1.1", "auto"),
        say("--grpc and --http {http} are both given: gRPC needs HTTP/2", http=options.http),
        say("leave --http out"),
    )
    return options.http or ("2" if url.startswith("https:") else "2c")


def _http(options: ConnectionOptions, requests: Sequence[Request]) -> HttpVersion:
    call = next((request for request in requests if request.grpc is not None), None)
    return options.http or "1.1" if call is None else http_of_calls(options, call.url)
