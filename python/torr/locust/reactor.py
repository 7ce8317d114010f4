"""The reactor, which runs the exchanges of greenlets on sockets of the engine.

There is one for each process and hub, created on first use. gevent's loop watches its descriptor.
A greenlet that starts an exchange waits until the reactor resumes it. Nothing here blocks the
thread.

"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import gevent
from gevent import getcurrent

from torr._engine import Call, ConnectionPool, Tls
from torr._engine import Reactor as Engine

if TYPE_CHECKING:
    from gevent.hub import Hub

__all__ = ["IS_HEAD", "STREAMS", "UNDER_WAY", "Call", "ConnectionPool", "Reactor", "Tls", "reactor"]

READ = 1
UNDER_WAY = -1
IS_HEAD = 1
STREAMS = 2


class Reactor:
    """The sockets of one hub."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.engine = Engine()
        self._waiting = 0
        self._watcher: Any = hub.loop.io(self.engine.fileno(), READ, ref=False)
        self._watcher.start(self.engine.poll, self._failed)

    def exchange(
        self,
        pool: ConnectionPool,
        head: bytes,
        body: bytes,
        flags: int = 0,
        timeouts: tuple[float | None, float | None] = (None, None),
    ) -> Call:
        """Send a request and wait for its response; of a stream, for its head.

        An exception that interrupts the wait (a kill, a gevent.Timeout) closes the connection.
        """
        call = pool.send(head, body, flags, timeouts[0], timeouts[1], getcurrent().switch)
        while call.outcome() == UNDER_WAY:
            self._wait(call)
        return call

    def piece(self, call: Call) -> bytes:
        """Return the next piece of a stream, empty at its end."""
        wake = getcurrent().switch
        piece = call.piece(wake)
        while piece is None:
            self._wait(call)
            piece = call.piece(wake)
        return piece

    def abandon(self) -> None:
        """Stop watching, and leave the descriptors open: the parent process uses them."""
        self._watcher.stop()
        self._watcher.close()

    def _wait(self, call: Call) -> None:
        """Let other greenlets run until this one is resumed."""
        if self._waiting == 0:
            self._watcher.ref = True  # keeps the loop alive
        self._waiting += 1
        try:
            self.hub.switch()
        except BaseException:
            call.abandon()
            raise
        finally:
            self._waiting -= 1
            if self._waiting == 0:
                self._watcher.ref = False

    def _failed(self, error: BaseException) -> None:
        self.hub.handle_error(None, type(error), error, error.__traceback__)


_reactor: Reactor | None = None


def reactor() -> Reactor:
    """Return the reactor of the running hub."""
    global _reactor  # noqa: PLW0603 - one for each process; a fork needs it
    hub = gevent.get_hub()
    if _reactor is None or _reactor.hub is not hub:
        _reactor = Reactor(hub)
    return _reactor


def _forked() -> None:
    """Drop the reactor in a child process: close its descriptors, and send nothing on them."""
    global _reactor  # noqa: PLW0603
    if _reactor is not None:
        _reactor.abandon()
    _reactor = None


os.register_at_fork(after_in_child=_forked)
