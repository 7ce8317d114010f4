"""Limit the connections to a page, in number and in the time until a request.

They use file descriptors of the load generator's process. The engine leaves 64 of them free
(`crates/engine`, run/threads.rs), so clients must not use more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

MAX_CONNECTIONS = 40
"""The limit of concurrent connections: readers of events, and some for other requests."""
HEAD_S = 10.0
"""The time limit for the head of a request, from the connection or the last response on."""


class LimitedHttpProtocol(H11Protocol):
    """uvicorn's protocol with both limits, which uvicorn does not apply before a request."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a request, or abort if there are too many connections."""
        super().connection_made(cast("asyncio.Transport", transport))
        if len(self.connections) > MAX_CONNECTIONS:
            self.transport.abort()
        else:
            self._start_deadline()

    def data_received(self, data: bytes) -> None:
        """Read data; an incomplete head does not extend the deadline."""
        super().data_received(data)
        if self._is_answering:
            self._cancel_deadline()
        else:
            self._start_deadline()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it has arrived already."""
        super().on_response_complete()
        if not self._is_answering:
            self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._cancel_deadline()
        super().connection_lost(exc)

    @property
    def _is_answering(self) -> bool:
        # None before the first request, whatever its type says.
        return bool(self.cycle) and not self.cycle.response_complete

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_S, self.transport.close)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
