"""`GET /events`: send a journal to a browser, at its own speed.

A reader that reads nothing for SEND_TIMEOUT_S is dropped; a browser reconnects and continues at its
position. Only the task of a reader waits for it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from torr.webserver.live.journal import Journal, JournalPosition

SEND_TIMEOUT_S = 10.0
RETRY_MS = 1000
"""The time after which a browser reconnects."""
KEEPALIVE_S = 15.0
"""The time after which a comment is sent, so that proxies do not close the connection."""
CHUNK_BYTES = 1 << 16
"""The size of pieces; SEND_TIMEOUT_S applies to each, not to a large event."""


class Readers:
    """The readers of the journal, in one event loop; other threads only wake them."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.is_closing = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._events: set[asyncio.Event] = set()

    @property
    def count(self) -> int:
        """Return the number of connected readers."""
        return len(self._events)

    def use_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use the event loop of the server."""
        self._loop = loop

    def wake(self) -> None:
        """Notify the readers of new events, from any thread, without waiting."""
        # The loop may have ended.
        with suppress(RuntimeError):
            if self._loop is not None and self._events:
                self._loop.call_soon_threadsafe(self._notify)

    def close(self) -> None:
        """Disconnect readers after the events so far."""
        self.is_closing = True
        self.wake()

    def _notify(self) -> None:
        for event in self._events:
            event.set()

    def add(self, event: asyncio.Event) -> None:
        """Add the event of a reader."""
        self._events.add(event)

    def remove(self, event: asyncio.Event) -> None:
        """Remove the event of a reader."""
        self._events.discard(event)


class EventStream(Response):
    """The response for one reader: all events after `position`, until the end of the run."""

    media_type = "text/event-stream"

    def __init__(self, readers: Readers, position: JournalPosition) -> None:
        super().__init__(headers={"x-accel-buffering": "no"})
        # Starlette sets it to 0, since there is no body yet.
        del self.headers["content-length"]
        self._readers = readers
        self._position = position

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send events until the run ends, or the reader disconnects or reads nothing."""
        event = asyncio.Event()
        self._readers.add(event)
        disconnected = asyncio.ensure_future(_disconnected(receive, event))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            # Errors of a reader that has disconnected or does not read.
            with suppress(TimeoutError, asyncio.TimeoutError, OSError):
                await self._send_events(send, event, disconnected)
        finally:
            self._readers.remove(event)
            disconnected.cancel()

    async def _send_events(
        self, send: Send, event: asyncio.Event, disconnected: asyncio.Future[None]
    ) -> None:
        journal = self._readers.journal
        await _send_text(send, b"retry: %d\n\n" % RETRY_MS)
        while not disconnected.done():
            event.clear()
            text = self._next_events()
            if text:
                await _send_text(send, text)
            elif journal.is_over or self._readers.is_closing:
                await send({"type": "http.response.body", "body": b""})
                return
            elif not await _wait_for_events(event):
                await _send_text(send, b":\n\n")

    def _next_events(self) -> bytes:
        """Return the next events together, up to about CHUNK_BYTES, since each send has a cost."""
        texts: list[bytes] = []
        while sum(map(len, texts)) < CHUNK_BYTES:
            entry = self._readers.journal.next(self._position)
            if entry is None:
                break
            self._position, text = entry
            texts.append(text)
        return b"".join(texts)


async def _wait_for_events(event: asyncio.Event) -> bool:
    """Return whether the event is set within KEEPALIVE_S; cheaper than `asyncio.wait_for`."""
    expired: list[bool] = []

    def on_timeout() -> None:
        expired.append(True)
        event.set()

    timer = asyncio.get_running_loop().call_later(KEEPALIVE_S, on_timeout)
    try:
        await event.wait()
    finally:
        timer.cancel()
    return not expired


async def _send_text(send: Send, text: bytes) -> None:
    """Send a text in pieces; raise TimeoutError if one is not accepted in time."""
    for at in range(0, len(text), CHUNK_BYTES):
        body = text[at : at + CHUNK_BYTES]
        message = {"type": "http.response.body", "body": body, "more_body": True}
        await asyncio.wait_for(send(message), SEND_TIMEOUT_S)


async def _disconnected(receive: Receive, event: asyncio.Event) -> None:
    """Wait until the reader disconnects, and wake its task."""
    while (await receive())["type"] != "http.disconnect":
        pass
    event.set()
