"""One run's live page, from before its load to after its end: a journal, who feeds it, a server.

After the end whoever is connected gets the end and is let go; a page that is open has all of it
then, and needs no server.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from torr.results.result import RunResult, read
from torr.webserver.live.app import Served, app
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
    from torr.webserver.server import Door

_LET_GO_S = 2.0
_LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Shown:
    """The run that is shown, and what the page may do to it: a Stop presses `interrupt`.

    `judge` says what levels come to, `complain` gets what went wrong with the page, `language` is
    that of whoever chose none.
    """

    directory: RunDirectory
    interrupt: Interrupt
    judge: Judge
    complain: Callable[[str], object]
    language: Language | None = None


class Live:
    """The live page of a run; `feed` is the listener of its experiment, `url` where it is.

    `file` is where intervals wait for who reads them.
    """

    def __init__(self, shown: Shown, door: Door, file: BinaryIO) -> None:
        self._directory = shown.directory
        self._interrupt = shown.interrupt
        journal = Journal(file)
        self._readers = Readers(journal)
        metrics = Metrics({key: shown.directory.head[key] for key in ("kind", "name")})
        self.feed = Feed(
            journal,
            metrics,
            shown.directory.current_result,
            shown.judge,
            wake=self._readers.wake,
            complain=shown.complain,
            fit=shown.directory.outside.json,
        )
        remaining = self.feed.remaining
        metrics.ahead = lambda: (remaining.elapsed_s, remaining.left_s)
        access = door.access()

        def page(token: str | None) -> str:
            live = {"token": token}
            data = {"mode": "live", "lang": shown.language, "run": None, "live": live}
            return document(data)

        served = Served(page(access.token), page(None), metrics.text, self._stop)
        self._server = ApplicationServer(app(served, self._readers, access), door, self._readers)
        metrics.cost_s = lambda: self._server.cost_s
        self.url = door.url(access, is_for_changes=True)

    def start(self) -> None:
        """Serve what there is, and what will come."""
        self.feed.begin()
        self._server.start()

    def end(self) -> None:
        """Tell everybody how it ended, and wait a moment until they know."""
        self.feed.end(self._last_result())
        deadline_s = time.monotonic() + _LET_GO_S
        while self._readers.count and time.monotonic() < deadline_s:
            time.sleep(_LOOK_S)

    def close(self) -> None:
        """Serve no more."""
        self._server.stop()

    @property
    def cost_s(self) -> float:
        """The CPU time of the server's thread so far."""
        return self._server.cost_s

    def _stop(self) -> None:
        # A second press would end it at once, and nobody means that by clicking twice.
        if not self._interrupt.requested:
            self._interrupt.press()

    def _last_result(self) -> RunResult:
        """What the run left; of one that left nothing, what was known of it."""
        if self._directory.result_path.exists():
            return read(self._directory.result_path)
        return msgspec.structs.replace(self._directory.current_result(), status="failed")
