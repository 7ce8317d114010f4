"""From flags to a transport: over what requests travel."""

from __future__ import annotations

from typing import Any

from torr.model.transport import Tls, Transport

Flags = dict[str, Any]


def transport_of(flags: Flags) -> Transport:
    """What the flags of the connection say; raises UsageError that names the flag."""
    tls = Tls(
        insecure=flags["insecure"],
        ca=flags["cacert"],
        certificate=flags["cert"],
        key=flags["key"],
        resumption=not flags["no_tls_resumption"],
    )
    return Transport(
        keepalive=not flags["no_keepalive"],
        requests_per_connection=flags["requests_per_connection"],
        connections_per_second=flags["connections_per_second"],
        source_addresses=flags["source_address"],
        tls=tls,
        proxy=flags["proxy"],
    )
