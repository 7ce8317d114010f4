"""The lanes of one session: connections to each place it talks to, kept for itself alone."""

from __future__ import annotations

import socket
from functools import lru_cache
from typing import NamedTuple

from torr.locust.reactor import Lane, Reactor, Tls, reactor

PORTS = {"http": 80, "https": 443}


class Trust(NamedTuple):
    """What is asked of a server's certificate, and shown to it."""

    insecure: bool = False
    ca: str | None = None
    identity: tuple[str, str] | None = None


class ConnectionRoute(NamedTuple):
    """Where connections go: over which layer, and through which proxy."""

    scheme: str
    host: str
    port: int
    trust: Trust = Trust()
    proxy: tuple[str, int, bytes | None] | None = None


class Lanes:
    """Lanes by place; those that belong to another process's reactor are left behind."""

    def __init__(self, most_idle: int = 10) -> None:
        self._most_idle = most_idle
        self._lanes: dict[ConnectionRoute, Lane] = {}
        self._reactor: Reactor | None = None
        self._last: tuple[ConnectionRoute, Lane] | None = None

    @property
    def reactor(self) -> Reactor:
        """The reactor that the lanes belong to."""
        return self._reactor or reactor()

    def lane(self, place: ConnectionRoute) -> Lane:
        """The lane to a place; raises OSError where its name is not known."""
        here = reactor()
        if self._reactor is not here:
            self.close()
            self._reactor = here
        last = self._last
        if last is not None and last[0] is place:
            return last[1]
        lane = self._lanes.get(place)
        if lane is None:
            # Others may have opened it while the name was looked up.
            to = addresses(*(place.proxy or (place.host, place.port))[:2])
            lane = self._lanes.get(place) or self._open(here, place, to)
        self._last = (place, lane)
        return lane

    def close(self) -> None:
        """Close what is idle; exchanges under way end first."""
        self._lanes.clear()
        self._last = None

    def _open(self, here: Reactor, place: ConnectionRoute, to: list[tuple[str, int]]) -> Lane:
        connect = place.proxy[2] if place.proxy else None
        tls = layer(place.host, place.trust) if place.scheme == "https" else None
        lane = self._lanes[place] = here.engine.lane(to, tls, connect, self._most_idle)
        return lane


def addresses(host: str, port: int) -> list[tuple[str, int]]:
    """Every address of a host, in the resolver's order."""
    found = socket.getaddrinfo(host.strip("[]"), port, socket.AF_UNSPEC, socket.SOCK_STREAM)
    texts = [str(entry[4][0]).partition("%")[0] for entry in found]
    return [(text, port) for text in dict.fromkeys(texts)]


@lru_cache(maxsize=64)
def layer(host: str, trust: Trust) -> Tls:
    """TLS to a name: reading a machine's certificates takes longer than a handshake."""
    return Tls(host, trust.insecure, trust.ca, trust.identity)
