"""A TLS proxy, by which tests reach a plain HTTP target over https."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

TURN_S = 0.05


@dataclass
class Forwarder:
    """A context manager that forwards to one plain target, and closes connections as it does."""

    target: str
    certificate: Path
    key: Path
    protocols: tuple[str, ...] = ()
    """Those that it chooses from in the handshake (ALPN); empty leaves it out."""
    _is_over: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    @property
    def url(self):
        return f"https://localhost:{self._listener.getsockname()[1]}/"

    def __enter__(self):
        self._secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._secure.load_cert_chain(self.certificate, self.key)
        if self.protocols:
            self._secure.set_alpn_protocols(list(self.protocols))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(TURN_S)
        self._start(self._listen)
        return self

    def __exit__(self, *_):
        self._is_over.set()
        for thread in self._threads:
            thread.join(60)
        self._listener.close()

    def _start(self, work, *more):
        self._threads.append(threading.Thread(target=work, args=more))
        self._threads[-1].start()

    def _listen(self):
        while not self._is_over.is_set():
            with suppress(TimeoutError):
                self._start(self._forward, self._listener.accept()[0])

    def _forward(self, plain):
        place = urlsplit(self.target)
        with plain, suppress(OSError):
            plain.settimeout(5)
            with (
                self._secure.wrap_socket(plain, server_side=True) as client,
                socket.create_connection((place.hostname, place.port)) as server,
            ):
                try:
                    self._pass_on(client, server)
                except ConnectionResetError:
                    # With a linger time of 0, close() resets the connection.
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _pass_on(self, client, server):
        while not self._is_over.is_set():
            ready = [client] if client.pending() else []
            ready = ready or select.select([client, server], [], [], TURN_S)[0]
            for side in ready:
                piece = side.recv(65536)
                if not piece:
                    return
                (server if side is client else client).sendall(piece)
