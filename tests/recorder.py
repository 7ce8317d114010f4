"""Servers in the process of a test: one that records its requests, and a proxy for it."""

from __future__ import annotations

import json
import select
import socket
import socketserver
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

TIMEOUT_S = 20


@dataclass(frozen=True)
class Seen:
    """One request as the server read it; `connection` is the number of its connection."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def path(self):
        return urlsplit(self.target).path

    @property
    def query(self):
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}


def fine(_seen):
    """Answer everything with a small JSON body."""
    return 200, {}, b'{"status":"ok"}'


@dataclass
class Recorder:
    """The requests that a server read, in order, and how it answers: status, headers, body."""

    answer: object = fine
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, path):
        return [seen for seen in self.seen if seen.path == path]

    def handler(self):
        """Return a class of handlers that add requests to this recorder."""
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 1 << 16  # head and body in one segment
            timeout = TIMEOUT_S

            def setup(self):
                super().setup()
                with recorder.lock:
                    recorder.connections += 1
                    self.number = recorder.connections

            def _answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen = Seen(self.command, self.path, headers, body, self.number)
                with recorder.lock:
                    recorder.seen.append(seen)
                    status, more, content = recorder.answer(seen)
                self.send_response(status)
                for name, value in {**more, "content-length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 - http.server's names

            def log_message(self, *_words):
                pass

        return Handler


class _Tcp(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512


class _Unix(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 512


@contextmanager
def _running(server):
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def recording(answer=fine, context=None):
    """A recorder behind a port of this machine, with TLS if there is a context; it has a `url`."""
    recorder = Recorder(answer)
    server = _Tcp(("127.0.0.1", 0), recorder.handler())
    scheme = "http"
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    recorder.place = f"localhost:{server.server_address[1]}"
    recorder.url = f"{scheme}://{recorder.place}"
    with _running(server):
        yield recorder


@contextmanager
def recording_socket(path, answer=fine):
    """A recorder behind a Unix socket."""
    recorder = Recorder(answer)
    with _running(_Unix(str(path), recorder.handler())):
        yield recorder


@dataclass
class Proxy:
    """Forwards bytes to one server, and records the heads of requests."""

    server: tuple[str, int]
    heads: list[str] = field(default_factory=list)

    def handler(self):
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                self.request.settimeout(TIMEOUT_S)
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = self.request.recv(65536)
                    if not piece:
                        return
                    head += piece
                proxy.heads.append(head.decode("latin-1"))
                with socket.create_connection(proxy.server) as onward:
                    if head.startswith(b"CONNECT "):
                        self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    else:
                        onward.sendall(head)
                    _join(self.request, onward)

        return Handler


def _join(one, other):
    """Forward bytes in both directions until a side closes."""
    ways = {one: other, other: one}
    while True:
        readable, _, _ = select.select(ways, [], [], TIMEOUT_S)
        for source in readable:
            piece = source.recv(65536)
            if not piece:
                return
            ways[source].sendall(piece)
        if not readable:
            return


@contextmanager
def proxying(url):
    """A proxy for the server of a URL; it has a `url` and a `place` (host and port)."""
    port = urlsplit(url).port
    proxy = Proxy(("127.0.0.1", port))
    server = _Tcp(("127.0.0.1", 0), proxy.handler())
    proxy.place = f"127.0.0.1:{server.server_address[1]}"
    proxy.url = f"http://{proxy.place}"
    with _running(server):
        yield proxy


def of_json(value):
    """Return a response with this body as JSON."""
    return 200, {"content-type": "application/json"}, json.dumps(value).encode()
