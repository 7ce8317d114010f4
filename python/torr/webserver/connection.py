"""A connection to a page: let go where there are too many, or where no request comes of it.

Its descriptors are those of the process that fires. The engine keeps 64 free for everything but its
own sockets (`crates/engine`, run/threads.rs), so strangers must not come to hold more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

MOST = 40
"""Connections at once: readers of a run's events, and some for everything else."""
HEAD_S = 10.0
"""How long the head of a request may take, from the connection's start or the last answer on."""


class LimitedHttpProtocol(H11Protocol):
    """uvicorn's, with a limit and a deadline: it has neither before the first request."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a request, unless there are too many who do."""
        super().connection_made(cast("asyncio.Transport", transport))
        if len(self.connections) > MOST:
            self.transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; a head that is not whole yet wins no time."""
        super().data_received(data)
        if self._is_answering:
            self._cease()
        else:
            self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next request, of which a part may be there."""
        super().on_response_complete()
        if not self._is_answering:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._cease()
        super().connection_lost(exc)

    @property
    def _is_answering(self) -> bool:
        # None before the first request, whatever its type says.
        return bool(self.cycle) and not self.cycle.response_complete

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_S, self.transport.close)

    def _cease(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
