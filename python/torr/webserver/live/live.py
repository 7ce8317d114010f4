"""The live page of a run, from before its load to after its end: a journal, a feed, a server.

After the end of the run, connected readers get the final result and are disconnected; an open page
is complete then, and needs no server.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from torr.results.result import RunResult, read
from torr.webserver.live.app import LiveContent, app
from torr.webserver.live.feed import Feed
from torr.webserver.live.journal import Journal
from torr.webserver.live.metrics import Metrics
from torr.webserver.live.page import document
from torr.webserver.live.stream import Readers
from torr.webserver.server import ApplicationServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.experiments.interrupt import Interrupt
    from torr.messages.say import Language
    from torr.store.rundir import RunDirectory
    from torr.webserver.live.feed import Judge
    from torr.webserver.server import ServerSocket

_DISCONNECT_S = 2.0
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class LiveRun:
    """The run to show; Stop presses `interrupt`.

    `judge` returns the conclusions of levels, `on_error` gets an error of the page, `language` is
    that of browsers without a choice.
    """

    directory: RunDirectory
    interrupt: Interrupt
    judge: Judge
    on_error: Callable[[str], object]
    language: Language | None = None


class LivePage:
    """The live page of a run; `feed` is the listener of its experiment, `url` its address.

    `file` stores the intervals for readers.
    """

    def __init__(self, run: LiveRun, server_socket: ServerSocket, file: BinaryIO) -> None:
        self._directory = run.directory
        self._interrupt = run.interrupt
        journal = Journal(file)
        self._readers = Readers(journal)
        metrics = Metrics({"kind": run.directory.head.kind, "name": run.directory.head.name})
        self.feed = Feed(
            journal,
            metrics,
            run.directory.current_result,
            run.judge,
            wake=self._readers.wake,
            on_error=run.on_error,
            redact=run.directory.outside.json,
        )
        remaining = self.feed.remaining
        metrics.progress = lambda: (remaining.elapsed_s, remaining.remaining_s)
        access = server_socket.access()

        def page(token: str | None) -> str:
            live = {"token": token}
            data = {"mode": "live", "lang": run.language, "run": None, "live": live}
            return document(data)

        content = LiveContent(page(access.token), page(None), metrics.text, self._stop)
        self._server = ApplicationServer(
            app(content, self._readers, access), server_socket, self._readers
        )
        self.url = server_socket.url(access, is_for_changes=True)

    def start(self) -> None:
        """Start serving."""
        self.feed.begin()
        self._server.start()

    def end(self) -> None:
        """Publish the final result, and wait for a moment until readers have it."""
        self.feed.end(self._final_result())
        deadline_s = time.monotonic() + _DISCONNECT_S
        while self._readers.count and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)

    def close(self) -> None:
        """Stop serving."""
        self._server.stop()

    def _stop(self) -> None:
        # A second press would end the run without its report; a double click must not do that.
        if not self._interrupt.requested:
            self._interrupt.press()

    def _final_result(self) -> RunResult:
        """Return the result of the run, or its last state if none was written."""
        directory = self._directory
        if directory.result_path.exists():
            return read(directory.result_path)
        last = directory.unsaved_result() if directory.is_removed else directory.current_result()
        return msgspec.structs.replace(last, status="failed")
