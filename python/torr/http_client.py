"""HTTP/1.1 exchanges over one connection, bounded in time and size.

The client of everything that is not load: answers of candidates, endpoints of metrics, profiles. It
follows no redirect, uses no proxy, and does not open a closed connection again.
"""

from __future__ import annotations

import io
import socket
import time
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer, Self

    from torr.model.request import Header
    from torr.model.url import Url

_PIECE_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Response:
    """A complete response; names of headers are in lower case, the body is without its framing.

    `will_close` is whether the response says that the connection serves no other request.
    """

    status: int
    reason: str
    version: str
    headers: tuple[Header, ...]
    body: bytes
    will_close: bool

    def header(self, name: str) -> str | None:
        """Return the first value of a header; None where there is none."""
        return next((value for key, value in self.headers if key == name), None)


class Connection:
    """A connection over TCP, TLS or a Unix socket; connecting and all exchanges end `within_s`.

    Connecting may take at most `connect_s` of that. Raises OSError where it fails.
    """

    def __init__(
        self, place: Url, within_s: float, connect_s: float | None = None, *, verify: bool = True
    ) -> None:
        """Connect; without `verify` any certificate is accepted."""
        self._within_s = within_s
        self._host = place.address if place.socket is None else place.host
        until_s = time.monotonic() + within_s
        sock = _connected(place, within_s if connect_s is None else connect_s)
        self._socket = _secured(sock, place, verify=verify) if place.scheme == "https" else sock
        self._http = HTTPConnection("localhost")
        self._http.auto_open = 0
        self._http.sock = _Timed(self._socket, until_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._socket.close()

    def exchange(
        self,
        target: str,
        headers: Sequence[Header] = (),
        *,
        method: str = "GET",
        body: bytes | None = None,
        most_bytes: int | None = None,
    ) -> Response:
        """Send a request and return the whole response.

        Raises OSError where there is none, TimeoutError where it takes too long.
        """
        known = {name.lower() for name, _ in headers}
        try:
            self._http.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            if "host" not in known:
                self._http.putheader("Host", self._host)
            for name, value in headers:
                self._http.putheader(name, value)
            if body is not None and "content-length" not in known:
                self._http.putheader("content-length", str(len(body)))
            self._http.endheaders(body)
            with self._http.getresponse() as response:
                return _whole(response, most_bytes)
        except TimeoutError as error:
            raise TimeoutError(f"no whole response within {self._within_s:g} s") from error
        except OSError:
            raise
        except HTTPException as error:
            raise OSError(str(error) or type(error).__name__) from error


def _connected(place: Url, timeout_s: float) -> socket.socket:
    """Return a connected socket; raises OSError."""
    if place.socket is None:
        _, _, port, _ = place.endpoint
        return socket.create_connection((place.host.strip("[]"), port), timeout_s)
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.settimeout(timeout_s)
        sock.connect(place.socket)
    except BaseException:
        sock.close()
        raise
    return sock


def _secured(sock: socket.socket, place: Url, *, verify: bool) -> socket.socket:
    import ssl

    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        return context.wrap_socket(sock, server_hostname=place.host.strip("[]"))
    except BaseException:
        sock.close()
        raise


def _whole(response: HTTPResponse, most_bytes: int | None) -> Response:
    """Return the response with its body; raises OSError where it is too large or cut short."""
    body = bytearray()
    while piece := response.read1(_PIECE_BYTES):
        body += piece
        if most_bytes is not None and len(body) > most_bytes:
            raise OSError(f"its response is larger than {most_bytes >> 20} MiB")
    if response.length:
        raise IncompleteRead(bytes(body), response.length)
    return Response(
        response.status,
        response.reason,
        "HTTP/1.0" if response.version == 10 else "HTTP/1.1",
        tuple((name.lower(), value) for name, value in response.getheaders()),
        bytes(body),
        response.will_close,
    )


class _Timed(io.RawIOBase):
    """The socket of `http.client`: each write and each read ends at `until_s`.

    A server that sends single bytes cannot prolong the exchange.
    """

    def __init__(self, sock: socket.socket, until_s: float) -> None:
        super().__init__()
        self._socket, self._until_s = sock, until_s

    def sendall(self, content: bytes) -> None:
        self._hurry()
        self._socket.sendall(content)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Timed(self._socket, self._until_s))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        self._hurry()
        return self._socket.recv_into(buffer)

    def _hurry(self) -> None:
        left_s = self._until_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._socket.settimeout(left_s)
