"""Clients of geventhttpclient that send requests that are not plain over the reactor.

geventhttpclient still builds heads, follows redirects and stores cookies; only its sockets are
replaced.

"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gevent.lock import BoundedSemaphore
from geventhttpclient.client import HTTPClient, HTTPClientPool
from geventhttpclient.url import URL

from torr.locust.fast_body import FastBody
from torr.locust.fast_failures import raise_failure
from torr.locust.pools import ConnectionPools, ConnectionRoute, TlsSettings
from torr.locust.reactor import IS_HEAD, STREAMS
from torr.locust.templates import Template
from torr.locust.wire import whole_body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.locust.reactor import Call


LENGTH = re.compile(r"\r\ncontent-length: \d+\r\n", re.IGNORECASE)
CHUNKED = re.compile(r"\r\ntransfer-encoding: *chunked", re.IGNORECASE)


class Clients(HTTPClientPool):
    """The clients of one session, one for each host."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.pools = ConnectionPools(max_idle=options.get("concurrency", 1))
        # A call whose head has arrived already, and the head that was sent: the next request uses
        # them instead of sending.
        self.finished_call: tuple[Call, str] | None = None

    def get_client(self, url: str | URL) -> Client:
        """Return the client for the host of a URL."""
        split = url if isinstance(url, URL) else URL(url)
        key = split.host, split.port
        client: Client | None = self.clients.get(key)
        if client is None:
            client = self.clients[key] = Client.of(self, split)
        return client

    def close(self) -> None:
        """Close idle connections."""
        self.pools.close()
        super().close()


class Client(HTTPClient):
    """Sends the requests to one host."""

    clients: Clients
    route: ConnectionRoute
    timeouts: tuple[float | None, float | None]
    slots: BoundedSemaphore

    @classmethod
    def of(cls, clients: Clients, url: URL) -> Client:
        """Create the client of a session for the host of a URL."""
        client: Client = cls.from_url(url, **clients.client_args)
        options = clients.client_args
        client.clients = clients
        client.route = client.route_through(options)
        client.timeouts = (options.get("connection_timeout"), options.get("network_timeout"))
        client.slots = BoundedSemaphore(options.get("concurrency", 1))
        return client

    def route_through(self, options: Mapping[str, Any]) -> ConnectionRoute:
        """Return the route of its connections, including the proxy."""
        host, port = self.host, self.port or 80
        proxy = None
        if options.get("proxy_host") is not None:
            connect_request = (
                f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
            )
            proxy = (
                options["proxy_host"],
                int(options["proxy_port"]),
                connect_request if self.ssl else None,
            )
        tls_settings = TlsSettings(insecure=bool(options.get("insecure")))
        return ConnectionRoute("https" if self.ssl else "http", host, port, tls_settings, proxy)

    def request(
        self,
        method: str,
        request_uri: str,
        body: Any = b"",
        headers: Any = None,
    ) -> Any:
        """Send a request, and return the response when its head has arrived."""
        clients = self.clients
        finished, clients.finished_call = clients.finished_call, None
        if isinstance(body, str):
            body = body.encode()
        self.slots.acquire()
        try:
            content = b"" if body is None else body
            call, head = finished or self._start(method.upper(), request_uri, content, headers)
            if not call.status:
                raise_failure(call)
            return FastBody(call, clients.pools.reactor, method.upper(), head, self.slots.release)
        except BaseException:
            self.slots.release()
            raise

    def _start(self, method: str, uri: str, body: Any, headers: Any) -> tuple[Call, str]:
        """Send a request, and return its call and its head."""
        clients = self.clients
        head = self._build_request(method, uri, body=body, headers=headers)
        pool = clients.pools.pool(self.route)
        content = whole_body(body, chunked=CHUNKED.search(head) is not None)
        flags = IS_HEAD * (method == "HEAD") | STREAMS
        sent = head.encode("latin-1")
        call = clients.pools.reactor.exchange(pool, sent, content, flags, self.timeouts)
        return call, head


def template_of(head: str, method: str, target: str, *, has_body: bool) -> Template | None:
    """Return the template of requests with the fields of a head that was built, or None."""
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
