"""A door that listens, and a server: uvicorn in a thread, which stands back behind the load.

It knows no run: what it serves is given to it. Nothing of it is written to a log.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import uvicorn

from torr.errors import UsageError
from torr.low_priority import lower_priority
from torr.webserver.access import Access, is_loopback
from torr.webserver.connection import LimitedHttpProtocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from typing_extensions import Self

HOST = "127.0.0.1"
_DROP_MS = 10_000
_END_S = 2.0
# So many may be accepted before anybody looks how many there are (connection.py).
_BACKLOG = 16


@dataclass(frozen=True, slots=True)
class Address:
    """Where a page is to listen, as flags say it: `host` and `port` are their names.

    `usual` is the port that is tried first where none is asked for, and any free one then.
    """

    usual: int
    host: str
    port: str


LIVE = Address(8677, "--live-host", "--live-port")
"""torr, on the keys of a telephone."""
KEPT = Address(8678, "--host", "--port")


class Audience(Protocol):
    """Those whose answers go on for long: they live on the server's loop, and are let go."""

    def live_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use this loop."""

    def close(self) -> None:
        """Let everybody go who has got what there is."""


class Door:
    """A listening socket and its name; whoever makes it closes it."""

    def __init__(self, host: str, port: int | None, address: Address = LIVE) -> None:
        """Listen; without a port on the usual one, or on any free one where that is taken.

        Raises UsageError where the address cannot be had.
        """
        self.socket = _listening(host, port, address)
        self.host = host
        self.port: int = self.socket.getsockname()[1]

    @property
    def is_open(self) -> bool:
        """Whether only this machine can come in, so that a look needs no token."""
        return is_loopback(self.host)

    def access(self) -> Access:
        """Who may ask; cookies do not tell ports apart, so their names do."""
        return Access(f"torr-{self.port}", self.is_open)

    def url(self, access: Access, *, is_for_changes: bool = False) -> str:
        """Where a browser finds it; on loopback the token is for changes alone."""
        shown = place(self.host, self.port)
        has_token = is_for_changes or not access.is_open
        return f"{shown}?token={access.token}" if has_token else shown


def place(host: str, port: int) -> str:
    """The URL of what listens there; of every address it is the machine's name."""
    is_any = host in {"0.0.0.0", "::"}  # noqa: S104 - compared, not bound
    name = socket.gethostname() if is_any else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"


class ApplicationServer:
    """Serves an application from `start` to `stop`."""

    def __init__(self, app: ASGIApp, door: Door, audience: Audience | None = None) -> None:
        self._door = door
        self._audience = audience
        # Nothing is logged: a URL may have a token, and stderr has the terminal's line.
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
        self._spent_s = 0.0

    def start(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        self._ready.wait()
        return self

    @property
    def cost_s(self) -> float:
        """The CPU time that its thread has taken, by that thread's own clock."""
        ident = self._thread.ident
        if ident is not None and self._thread.is_alive():
            with suppress(OSError):
                return time.clock_gettime(time.pthread_getcpuclockid(ident))
        return self._spent_s

    def stop(self) -> None:
        """Let the audience go, and end; waits 2 s at most."""
        if self._audience is not None:
            self._audience.close()
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(_END_S)
            self._server.force_exit = True
            self._thread.join(_END_S)
        self._door.socket.close()

    def _run(self) -> None:
        lower_priority()
        try:
            asyncio.run(self._serve())
        finally:
            self._ready.set()
            self._spent_s = time.thread_time()

    async def _serve(self) -> None:
        if self._audience is not None:
            self._audience.live_on(asyncio.get_running_loop())
        self._ready.set()
        await self._server.serve(sockets=[self._door.socket])


def _listening(host: str, port: int | None, address: Address) -> socket.socket:
    """A socket that listens; raises UsageError that names the flag."""
    try:
        return _bound(host, address.usual if port is None else port)
    except OSError as error:
        if port is not None or isinstance(error, socket.gaierror):
            raise _cannot(host, port, address, error) from error
    try:
        return _bound(host, 0)
    except OSError as error:
        raise _cannot(host, port, address, error) from error


def _bound(host: str, port: int) -> socket.socket:
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # The kernel lets go of a reader that takes nothing; accepted sockets inherit it.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DROP_MS)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _cannot(host: str, port: int | None, address: Address, error: OSError) -> UsageError:
    where = f"{address.host} {host}" + ("" if port is None else f" {address.port} {port}")
    said = error.strerror or str(error)
    return UsageError(f"{where}: cannot be listened on: {said}", f"leave {address.port} out")
