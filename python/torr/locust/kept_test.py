"""One test of Locust as a run of torr: its directory, its slices as they come, its level.

A directory that cannot be written costs the run, not the test: that goes on as if nobody kept it.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from torr.engine import decoded_interval, decoded_level
from torr.errors import OutputError
from torr.experiments.lab import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.locust.ledger import Gathering
    from torr.store.rundir import RunDirectory

log = logging.getLogger("torr.locust")


class KeptTest:
    """A test that is kept; `awaited` are the processes that have not told how it ended."""

    def __init__(self, directory: RunDirectory, gathering: Gathering) -> None:
        self.directory = directory
        self.gathering = gathering
        self.awaited: set[str] = set()
        self.is_lost = False

    def expect(self, process: str) -> None:
        """Wait for what a process will tell."""
        self.awaited.add(process)
        self.gathering.expect(process)

    def count_users(self, now: int) -> None:
        """Note how many users there are."""
        self.gathering.users(now)

    def take(self, process: str, sheet: bytes | None, *, is_over: bool) -> None:
        """Take what a process tells."""
        if sheet is not None:
            try:
                self.keep(self.gathering.take(process, sheet))
            except ValueError as error:
                self.gathering.warn(f"worker {process} is not counted: {error}")
        if is_over:
            self.awaited.discard(process)

    def keep(self, slices: Iterable[str]) -> None:
        """Keep slices; when the disk does not take them, say so once and keep no more."""
        for text in slices:
            if self.is_lost:
                return
            interval = msgspec.structs.replace(decoded_interval(text), level=0, round=1)
            try:
                self.directory.keep_slice(interval)
            except OutputError as error:
                self.lose(error)

    def lose(self, error: OutputError) -> None:
        """Say why the run cannot be kept, and keep what there is of it."""
        self.is_lost = True
        log.error("torr: %s", error)
        with suppress(OutputError):
            self.directory.close("failed")

    def finish(self, *, is_interrupted: bool, warnings: Iterable[str]) -> Outcome | None:
        """Keep the level; None when the run is lost."""
        for text in warnings:
            self.gathering.warn(text)
        self.keep(self.gathering.end(interrupted=is_interrupted))
        if self.is_lost:
            return None
        # Whoever ends a test by hand has not cut it: most have no other end.
        level = msgspec.structs.replace(decoded_level(self.gathering.level()), cut_short=False)
        try:
            level = self.directory.keep_level(level)
        except OutputError as error:
            self.lose(error)
            return None
        return Outcome((level,), failure=level.failure, interrupted=is_interrupted)
