"""geventhttpclient's way to the reactor: clients for everything that a FastHttpUser may ask.

geventhttpclient builds heads, follows redirects and keeps cookies as ever; only what it would ask
of a socket is asked of the reactor.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gevent.lock import BoundedSemaphore
from geventhttpclient.client import HTTPClient, HTTPClientPool
from geventhttpclient.url import URL

from torr.locust.fast_body import FastBody
from torr.locust.fast_failures import raise_failure
from torr.locust.lanes import ConnectionRoute, Lanes, Trust
from torr.locust.reactor import IS_HEAD, STREAMS
from torr.locust.templates import Template
from torr.locust.wire import whole_body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.locust.reactor import Call


LENGTH = re.compile(r"\r\ncontent-length: \d+\r\n", re.IGNORECASE)
CHUNKED = re.compile(r"\r\ntransfer-encoding: *chunked", re.IGNORECASE)


class Clients(HTTPClientPool):
    """The clients of one session, one for each host that it talks to."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.lanes = Lanes(most_idle=options.get("concurrency", 1))
        # A call whose head came already, and what was sent: the next request takes it instead of
        # sending.
        self.made: tuple[Call, str] | None = None

    def get_client(self, url: str | URL) -> Client:
        """The client for a URL's host."""
        split = url if isinstance(url, URL) else URL(url)
        key = split.host, split.port
        client: Client | None = self.clients.get(key)
        if client is None:
            client = self.clients[key] = Client.of(self, split)
        return client

    def close(self) -> None:
        """Close what is idle."""
        self.lanes.close()
        super().close()


class Client(HTTPClient):
    """Requests to one host."""

    pool: Clients
    place: ConnectionRoute
    patience: tuple[float | None, float | None]
    slots: BoundedSemaphore

    @classmethod
    def of(cls, pool: Clients, url: URL) -> Client:
        """The client of a pool for a URL's host."""
        client: Client = cls.from_url(url, **pool.client_args)
        options = pool.client_args
        client.pool = pool
        client.place = client.place_of(options)
        client.patience = (options.get("connection_timeout"), options.get("network_timeout"))
        client.slots = BoundedSemaphore(options.get("concurrency", 1))
        return client

    def place_of(self, options: Mapping[str, Any]) -> ConnectionRoute:
        """Where its connections go, and through which proxy."""
        host, port = self.host, self.port or 80
        proxy = None
        if options.get("proxy_host") is not None:
            ask = f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
            proxy = (options["proxy_host"], int(options["proxy_port"]), ask if self.ssl else None)
        trust = Trust(insecure=bool(options.get("insecure")))
        return ConnectionRoute("https" if self.ssl else "http", host, port, trust, proxy)

    def request(
        self,
        method: str,
        request_uri: str,
        body: Any = b"",
        headers: Any = None,
    ) -> Any:
        """Send, and give the answer as soon as its head is there; raises what sockets raise."""
        pool = self.pool
        made, pool.made = pool.made, None
        if isinstance(body, str):
            body = body.encode()
        self.slots.acquire()
        try:
            content = b"" if body is None else body
            call, head = made or self._called(method.upper(), request_uri, content, headers)
            if not call.status:
                raise_failure(call)
            return FastBody(call, pool.lanes.reactor, method.upper(), head, self.slots.release)
        except BaseException:
            self.slots.release()
            raise

    def _called(self, method: str, uri: str, body: Any, headers: Any) -> tuple[Call, str]:
        """The call that a request became, and the head that was sent."""
        pool = self.pool
        head = self._build_request(method, uri, body=body, headers=headers)
        lane = pool.lanes.lane(self.place)
        content = whole_body(body, chunked=CHUNKED.search(head) is not None)
        flags = IS_HEAD * (method == "HEAD") | STREAMS
        sent = head.encode("latin-1")
        call = pool.lanes.reactor.exchange(lane, sent, content, flags, self.patience)
        return call, head


def template_of(head: str, method: str, target: str, *, has_body: bool) -> Template | None:
    """What other requests of the same fields have in common with one that was built."""
    line = f"{method} {target}"
    if not head.startswith(line + " "):
        return None
    rest = head[len(line) :]
    lengths = LENGTH.findall(rest)
    if not has_body:
        return Template(rest.encode("latin-1"), b"")
    if len(lengths) != 1:
        return None
    before, after = rest.split(lengths[0])
    field = lengths[0].rpartition(" ")[0] + " "
    return Template((before + field).encode("latin-1"), ("\r\n" + after).encode("latin-1"))
