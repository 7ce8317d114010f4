"""A server in the gevent hub of the client, whose answers tests specify byte by byte.

A route returns what goes over the wire: bytes, pauses in seconds and, at the end, how the
connection breaks, if it does. The server records every request, with the number of its connection.
"""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import dataclass, field
from enum import Enum, auto
from urllib.parse import parse_qsl, urlsplit

import gevent
from gevent.server import StreamServer


class Break(Enum):
    """How a server ends a connection."""

    CLOSE = auto()
    RESET = auto()
    HANG = auto()  # sends nothing more until the client closes the connection


@dataclass
class Request:
    """A request as it was received."""

    connection: int
    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes = b""
    chunks: list[bytes] | None = None

    @property
    def path(self):
        return urlsplit(self.target).path

    @property
    def query(self):
        return dict(parse_qsl(urlsplit(self.target).query))

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass
class Site:
    """Answers on a port of its own; `other` is another site that redirects may point to."""

    routes: dict[str, object]
    tls: object = None
    other: Site | None = None
    seen: list[Request] = field(default_factory=list)
    connections: int = 0

    def start(self):
        options = {} if self.tls is None else {"ssl_context": self.tls}
        self.server = StreamServer(("127.0.0.1", 0), self._serve, **options)
        self.server.start()
        return self

    def stop(self):
        self.server.stop(timeout=0)

    @property
    def port(self):
        return self.server.server_port

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def forget(self):
        """Let connections that are closing end, then forget all requests."""
        gevent.sleep(0)
        self.seen.clear()

    def _serve(self, sock, _address):
        self.connections += 1
        number = self.connections
        incoming = sock.makefile("rb")
        try:
            while request := read(incoming, number):
                self.seen.append(request)
                if self._answer(sock, request) is Break.CLOSE:
                    break
        except OSError:
            pass  # the client closed the connection, as tests of timeouts let it do
        finally:
            incoming.close()
            sock.close()

    def _answer(self, sock, request):
        route = self.routes.get(request.path) or self.routes[self._prefix(request.path)]
        pieces = route(request, self)
        if request.method == "HEAD" and isinstance(pieces, bytes):
            pieces = pieces.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        for piece in [pieces] if isinstance(pieces, bytes) else pieces:
            if isinstance(piece, bytes):
                sock.sendall(piece)
            elif isinstance(piece, Break):
                return _break(sock, piece)
            else:
                gevent.sleep(piece)
        closes = (request.header("connection") or "").lower() == "close"
        return Break.CLOSE if closes else None

    def _prefix(self, path):
        fitting = [one for one in self.routes if one.endswith("/") and path.startswith(one)]
        return max(fitting, key=len)


def read(incoming, connection):
    """Return the next request; None at the end of the connection or if it is not HTTP/1.1."""
    line = incoming.readline()
    if not line.endswith(b" HTTP/1.1\r\n"):
        return None
    method, target, _version = line.decode("latin-1").split(" ", 2)
    headers = []
    while (line := incoming.readline()).strip():
        name, value = line.decode("latin-1").split(":", 1)
        headers.append((name, value.strip()))
    request = Request(connection, method, target, headers)
    if "chunked" in (request.header("transfer-encoding") or "").lower():
        request.chunks = list(_chunks(incoming))
        request.body = b"".join(request.chunks)
    elif length := int(request.header("content-length") or 0):
        request.body = incoming.read(length)
    return request


def answer(status=200, body=b"", *headers, reason="OK"):
    """Return a response with its Content-Length; headers are whole lines."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} {reason}", *headers, f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def head(*headers, status=200, reason="OK"):
    """Return a head without Content-Length, for bodies that are framed otherwise."""
    return "\r\n".join([f"HTTP/1.1 {status} {reason}", *headers, "", ""]).encode("latin-1")


def chunk(piece):
    return b"%x\r\n%s\r\n" % (len(piece), piece)


def _chunks(incoming):
    while size := int(incoming.readline().split(b";")[0], 16):
        yield incoming.read(size)
        incoming.readline()
    incoming.readline()


def _break(sock, how):
    if how is Break.HANG:
        sock.recv(1)
    if how is Break.RESET:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return Break.CLOSE
