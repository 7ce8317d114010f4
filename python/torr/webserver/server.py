"""A listening socket, and a server: uvicorn in a thread of low priority, without a log.

It is independent of runs: it serves any application.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import uvicorn

from torr.errors import UsageError
from torr.low_priority import lower_priority
from torr.messages.say import say
from torr.webserver.access import Access, is_loopback
from torr.webserver.connection import LimitedHttpProtocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from typing_extensions import Self

HOST = "127.0.0.1"
_DROP_MS = 10_000
_STOP_S = 2.0
# The number of connections that are accepted before their limit is checked (connection.py).
_BACKLOG = 16


@dataclass(frozen=True, slots=True)
class Address:
    """The names of the flags for host and port, and the default port.

    If the default port is in use and no port was requested, any free one is used.
    """

    default_port: int
    host: str
    port: str


LIVE = Address(8677, "--live-host", "--live-port")
"""8677 is "torr" on a telephone keypad."""
HISTORY = Address(8678, "--host", "--port")


class LongReaders(Protocol):
    """Clients with long responses, which run in the server's event loop."""

    def use_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use the event loop of the server."""

    def close(self) -> None:
        """End all responses after the events so far."""


class ServerSocket:
    """A listening socket and its host; the creator closes it."""

    def __init__(self, host: str, port: int | None, address: Address = LIVE) -> None:
        """Listen on a port; without one, on the default port or any free one if it is in use.

        Raises UsageError if that is not possible.
        """
        self.socket = _listen(host, port, address)
        self.host = host
        self.port: int = self.socket.getsockname()[1]

    @property
    def is_loopback_only(self) -> bool:
        """Return whether only this machine can connect, so that reading needs no token."""
        return is_loopback(self.host)

    def access(self) -> Access:
        """Return the access rule; the cookie's name has the port, since cookies ignore ports."""
        return Access(f"torr-{self.port}", self.is_loopback_only)

    def url(self, access: Access, *, is_for_changes: bool = False) -> str:
        """Return the URL for a browser; on loopback, only changes need the token."""
        url = page_url(self.host, self.port)
        has_token = is_for_changes or not access.is_loopback_only
        return f"{url}?token={access.token}" if has_token else url


def page_url(host: str, port: int) -> str:
    """Return the URL of a page; for the wildcard address with the name of the machine."""
    is_any = host in {"0.0.0.0", "::"}  # noqa: S104 - compared, not bound
    name = socket.gethostname() if is_any else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"


class ApplicationServer:
    """Serves an application from `start` to `stop`."""

    def __init__(
        self, app: ASGIApp, server_socket: ServerSocket, readers: LongReaders | None = None
    ) -> None:
        self._server_socket = server_socket
        self._readers = readers
        # No log: URLs may contain the token, and stderr shows the progress of the run.
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=LimitedHttpProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
            backlog=_BACKLOG,
        )
        self._server = uvicorn.Server(config)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="torr-pages", daemon=True)

    def start(self) -> Self:
        """Start serving."""
        self._thread.start()
        self._ready.wait()
        return self

    def stop(self) -> None:
        """End all responses and stop; wait 2 s at most for either."""
        if self._readers is not None:
            self._readers.close()
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(_STOP_S)
            self._server.force_exit = True
            self._thread.join(_STOP_S)
        self._server_socket.socket.close()

    def _run(self) -> None:
        lower_priority()
        try:
            asyncio.run(self._serve())
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        if self._readers is not None:
            self._readers.use_loop(asyncio.get_running_loop())
        self._ready.set()
        await self._server.serve(sockets=[self._server_socket.socket])


def _listen(host: str, port: int | None, address: Address) -> socket.socket:
    """Return a listening socket; raise UsageError with the flag on failure."""
    try:
        return _bind(host, address.default_port if port is None else port)
    except OSError as error:
        if port is not None or isinstance(error, socket.gaierror):
            raise _listen_error(host, port, address, error) from error
    try:
        return _bind(host, 0)
    except OSError as error:
        raise _listen_error(host, port, address, error) from error


def _bind(host: str, port: int) -> socket.socket:
    addresses = socket.getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    family, kind, protocol, _, address = addresses[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # The kernel drops a client that reads nothing; accepted sockets inherit the option.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DROP_MS)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _listen_error(host: str, port: int | None, address: Address, error: OSError) -> UsageError:
    where = f"{address.host} {host}" + ("" if port is None else f" {address.port} {port}")
    reason = error.strerror or str(error)
    return UsageError(
        say("{where}: cannot be listened on: {reason}", where=where, reason=reason),
        say("leave {port} out", port=address.port),
    )
