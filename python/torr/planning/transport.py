"""The transport of requests, from the options of connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.model.transport import Tls, Transport

if TYPE_CHECKING:
    from torr.options.connection import ConnectionOptions


def transport_of(options: ConnectionOptions) -> Transport:
    """Return the transport of these options; raise UsageError that names the flag."""
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
        http=options.http,
        streams=options.streams,
        coalesce_ns=options.coalesce_ns,
    )
