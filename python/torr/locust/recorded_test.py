"""One test of Locust as a run of torr: its directory, its intervals and its level.

If the directory cannot be written, the run is lost, but the test continues.

"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from torr.engine import decoded_interval, decoded_level
from torr.errors import OutputError
from torr.experiments.context import Outcome
from torr.messages.message import Message, message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.locust.tallies import TallyAggregate
    from torr.store.rundir import RunDirectory

log = logging.getLogger("torr.locust")


class RecordedTest:
    """A recorded test; `awaited` has the processes that have not sent their last report."""

    def __init__(self, directory: RunDirectory, aggregate: TallyAggregate) -> None:
        self.directory = directory
        self.aggregate = aggregate
        self.awaited: set[str] = set()
        self.has_failed = False
        self._warnings: list[Message] = []
        self._most_users = 0
        self._last_users: dict[str, int] = {}

    def expect(self, process: str) -> None:
        """Wait for the report of a process."""
        self.awaited.add(process)
        self.aggregate.expect(process)

    def count_users(self, now: int) -> None:
        """Record the number of users."""
        self._most_users = max(self._most_users, now)
        self.aggregate.set_users(now)

    def add_report(
        self, process: str, tally: bytes | None, *, is_over: bool, users: int = 0
    ) -> None:
        """Add a report of a process; the last one has its users at the end of the test."""
        if tally is not None:
            try:
                self.keep_intervals(self.aggregate.add_report(process, tally))
            except ValueError as error:
                self._warnings.append(
                    message(
                        "warning.worker_not_counted",
                        "worker {process} is not counted: {error}",
                        process=process,
                        error=str(error),
                    )
                )
        if not is_over and process not in self._last_users:
            self.awaited.add(process)  # a worker may join a running test
        if is_over:
            self.awaited.discard(process)
            self._last_users[process] = users
            if (total := sum(self._last_users.values())) > self._most_users:
                self.count_users(total)

    def keep_intervals(self, intervals: Iterable[str]) -> None:
        """Store intervals; if the disk is full, log it once and store no more."""
        for text in intervals:
            if self.has_failed:
                return
            interval = msgspec.structs.replace(decoded_interval(text), level=0, round=1)
            try:
                self.directory.keep_interval(interval)
            except OutputError as error:
                self.fail(error)

    def fail(self, error: OutputError) -> None:
        """Log why the run cannot be stored, and close its directory as failed."""
        self.has_failed = True
        log.error("torr: %s", error)
        with suppress(OutputError):
            self.directory.close("failed")

    def finish(self, *, is_interrupted: bool, warnings: Iterable[Message]) -> Outcome | None:
        """Store the level, and return the outcome; None if the run could not be stored."""
        self.keep_intervals(self.aggregate.end(interrupted=is_interrupted))
        if self.has_failed:
            return None
        # A test that the user stopped is complete: most tests end in this way.
        level = decoded_level(self.aggregate.level())
        warnings = [*dict.fromkeys([*level.warnings, *self._warnings, *warnings])]
        level = msgspec.structs.replace(level, cut_short=False, warnings=warnings)
        try:
            level = self.directory.keep_level(level)
        except OutputError as error:
            self.fail(error)
            return None
        return Outcome((level,), failure=level.failure, interrupted=is_interrupted)
