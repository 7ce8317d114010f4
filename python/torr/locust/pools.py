"""The connection pools of one session, one for each route."""

from __future__ import annotations

import socket
from functools import lru_cache
from typing import NamedTuple

from torr.locust.reactor import ConnectionPool, Reactor, Tls, reactor

PORTS = {"http": 80, "https": 443}


class TlsSettings(NamedTuple):
    """How to verify the server's certificate, and the client certificate to present."""

    insecure: bool = False
    ca: str | None = None
    identity: tuple[str, str] | None = None


class ConnectionRoute(NamedTuple):
    """A destination with its scheme, its TLS settings and its proxy."""

    scheme: str
    host: str
    port: int
    tls_settings: TlsSettings = TlsSettings()
    proxy: tuple[str, int, bytes | None] | None = None


class ConnectionPools:
    """Connection pools by route; pools of another process's reactor are dropped."""

    def __init__(self, max_idle: int = 10) -> None:
        self._max_idle = max_idle
        self._pools: dict[ConnectionRoute, ConnectionPool] = {}
        self._reactor: Reactor | None = None
        self._last: tuple[ConnectionRoute, ConnectionPool] | None = None

    @property
    def reactor(self) -> Reactor:
        """Return the reactor that the pools belong to."""
        return self._reactor or reactor()

    def pool(self, route: ConnectionRoute) -> ConnectionPool:
        """Return the pool of a route; raise OSError if its host name cannot be resolved."""
        current = reactor()
        if self._reactor is not current:
            self.close()
            self._reactor = current
        last = self._last
        if last is not None and last[0] is route:
            return last[1]
        pool = self._pools.get(route)
        if pool is None:
            # Another greenlet may have opened it while the name was resolved.
            found = resolve(*(route.proxy or (route.host, route.port))[:2])
            pool = self._pools.get(route) or self._open(current, route, found)
        self._last = (route, pool)
        return pool

    def close(self) -> None:
        """Close idle connections; exchanges under way end first."""
        self._pools.clear()
        self._last = None

    def _open(
        self, current: Reactor, route: ConnectionRoute, addresses: list[tuple[str, int]]
    ) -> ConnectionPool:
        connect = route.proxy[2] if route.proxy else None
        tls = tls_of(route.host, route.tls_settings) if route.scheme == "https" else None
        pool = self._pools[route] = current.engine.connection_pool(
            addresses, tls, connect, self._max_idle
        )
        return pool


def resolve(host: str, port: int) -> list[tuple[str, int]]:
    """Return every address of a host, in the resolver's order."""
    entries = socket.getaddrinfo(host.strip("[]"), port, socket.AF_UNSPEC, socket.SOCK_STREAM)
    # The part after the % of a link-local address is this machine's name of the interface.
    texts = [str(entry[4][0]).partition("%")[0] for entry in entries]
    return [(text, port) for text in dict.fromkeys(texts)]


@lru_cache(maxsize=64)
def tls_of(host: str, tls_settings: TlsSettings) -> Tls:
    """Return the TLS client for a host name; reading certificates takes longer than a handshake."""
    return Tls(host, tls_settings.insecure, tls_settings.ca, tls_settings.identity)
