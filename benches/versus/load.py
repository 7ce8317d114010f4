"""What is fired: the same words for every tool."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Load:
    """A GET over so many connections, for so long; at a constant rate if there is one.

    With `streams` it is fired over HTTP/2, so many at once on each connection. With `coalesce` torr
    collects requests for so long before it sends them. With `grpc` each is a call of torr.Echo.
    With a `ws://` URL each is a message, so many at once on each connection.
    """

    url: str
    connections: int
    seconds: int
    rate: int | None = None
    streams: int = 0
    coalesce: str = ""
    grpc: bool = False

    @property
    def secure(self) -> bool:
        """Whether it goes over TLS."""
        return self.url.startswith("https:")

    @property
    def is_websocket(self) -> bool:
        """Whether it consists of messages."""
        return self.url.startswith("ws:")

    @property
    def place(self) -> str:
        """Address and port."""
        return urlsplit(self.url).netloc

    @property
    def path(self) -> str:
        """What is asked for there."""
        return urlsplit(self.url).path
