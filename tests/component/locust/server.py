"""A server on the client's hub, whose every answer is written byte by byte.

A route gives what goes over the wire: bytes, pauses in seconds, and at the end, if it wants, how
the connection breaks. It keeps every request that it read, with the connection that brought it.
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
    """How a connection ends when not by keep-alive."""

    CLOSE = auto()
    RESET = auto()
    HANG = auto()  # says nothing more until the client goes away


@dataclass
class Request:
    """What came over the wire."""

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
        """Let whoever still goes away do so, then forget all requests."""
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
            pass  # the client went away, which is its right
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
    """The next request, or None at the connection's end; likewise if it is none, such as TLS."""
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
    """An answer with its length; headers are whole lines."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} {reason}", *headers, f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def head(*headers, status=200, reason="OK"):
    """A head alone, for bodies that come otherwise than by a length."""
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
