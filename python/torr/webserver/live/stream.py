"""`GET /events`: a journal read to one browser, as fast as that takes it.

A reader that takes nothing for PATIENCE_S is dropped; a browser comes again by itself and goes on
where it was. Nobody waits for a reader but the reader's own task.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from torr.webserver.live.journal import Journal, JournalPosition

PATIENCE_S = 10.0
AGAIN_MS = 1000
"""After which time a browser comes again."""
QUIET_S = 15.0
"""After which a comment is sent, so that nothing on the way takes the connection for dead."""
PIECE = 1 << 16
"""Bytes that are handed over at once: patience is for each of them, not for a large event."""


class Readers:
    """Everybody who reads the journal, on the loop of one thread; others only wake them."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.is_closing = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._bells: set[asyncio.Event] = set()

    @property
    def count(self) -> int:
        """How many are connected."""
        return len(self._bells)

    def live_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use this loop."""
        self._loop = loop

    def wake(self) -> None:
        """Say from any thread that there is more to read; never waits."""
        # A loop that has ended has nobody to wake.
        with suppress(RuntimeError):
            if self._loop is not None and self._bells:
                self._loop.call_soon_threadsafe(self._ring)

    def close(self) -> None:
        """Let every reader go when it has got what there is."""
        self.is_closing = True
        self.wake()

    def _ring(self) -> None:
        for bell in self._bells:
            bell.set()

    def enter(self, bell: asyncio.Event) -> None:
        """A reader has come."""
        self._bells.add(bell)

    def leave(self, bell: asyncio.Event) -> None:
        """A reader has gone."""
        self._bells.discard(bell)


class EventStream(Response):
    """One reader's answer: every event behind `place`, until the end of the run."""

    media_type = "text/event-stream"

    def __init__(self, readers: Readers, place: JournalPosition) -> None:
        super().__init__(headers={"x-accel-buffering": "no"})
        # What init_headers found to be the length of no body.
        del self.headers["content-length"]
        self._readers = readers
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Answer, until the run is over or the reader has gone or takes nothing."""
        bell = asyncio.Event()
        self._readers.enter(bell)
        gone = asyncio.ensure_future(_gone(receive, bell))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            # Whoever takes nothing, or has gone, is left.
            with suppress(TimeoutError, asyncio.TimeoutError, OSError):
                await self._read_out(send, bell, gone)
        finally:
            self._readers.leave(bell)
            gone.cancel()

    async def _read_out(self, send: Send, bell: asyncio.Event, gone: asyncio.Future[None]) -> None:
        journal = self._readers.journal
        await _hand_over(send, b"retry: %d\n\n" % AGAIN_MS)
        while not gone.done():
            bell.clear()
            text = self._news()
            if text:
                await _hand_over(send, text)
            elif journal.is_over or self._readers.is_closing:
                await send({"type": "http.response.body", "body": b""})
                return
            elif not await _rings(bell):
                await _hand_over(send, b":\n\n")

    def _news(self) -> bytes:
        """The next events, as many as go well together: each handing over has its price."""
        texts: list[bytes] = []
        while sum(map(len, texts)) < PIECE:
            found = self._readers.journal.next(self._place)
            if found is None:
                break
            self._place, text = found
            texts.append(text)
        return b"".join(texts)


async def _rings(bell: asyncio.Event) -> bool:
    """Whether it rings before QUIET_S are over; cheaper than `wait_for`, which makes a task."""
    over: list[bool] = []

    def give_up() -> None:
        over.append(True)
        bell.set()

    timer = asyncio.get_running_loop().call_later(QUIET_S, give_up)
    try:
        await bell.wait()
    finally:
        timer.cancel()
    return not over


async def _hand_over(send: Send, text: bytes) -> None:
    """Send a text in pieces; raises TimeoutError where one is not taken in time."""
    for at in range(0, len(text), PIECE):
        body = text[at : at + PIECE]
        message = {"type": "http.response.body", "body": body, "more_body": True}
        await asyncio.wait_for(send(message), PATIENCE_S)


async def _gone(receive: Receive, bell: asyncio.Event) -> None:
    """Return when the reader has closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
    bell.set()
