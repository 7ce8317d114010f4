"""What happened so far, as server-sent events with ids: whoever comes late or again misses nothing.

    run, interval, interval, …, run, interval, …, end

A `run` says everything that came before it, so that only the newest is kept, with the intervals
that came after. Those wait in a file without a name: memory holds the newest `run` and eight bytes
a interval, however long a level lasts. `progress` is of the moment: it has no id, and only the
newest is kept.

One thread writes and never waits; others read at once, with a place each. No lock is needed: a
chapter is replaced whole, and an interval is in the file before its end is in the list.
"""

from __future__ import annotations

import os
import secrets
from array import array
from dataclasses import dataclass, field
from typing import BinaryIO


@dataclass(frozen=True, slots=True)
class JournalPosition:
    """How far a reader has come: the id of the event it got last, and the newest progress."""

    seen: int = 0
    told: int = 0


@dataclass(slots=True)
class _Chapter:
    """A `run` or the `end`, and where in the file the intervals after it end."""

    number: int
    opening: bytes
    start: int
    ends: array[int] = field(default_factory=lambda: array("Q"))


class Journal:
    """The events of one run; `file` is written at its end and read anywhere."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = 0
        # Tells this run's ids from those of another one that had the same port.
        self._mark = secrets.token_hex(4)
        self._chapter = _Chapter(0, b"", 0)
        self._progress = (0, b"")
        self.is_over = False

    def begin(self, run: bytes) -> None:
        """Take down a `run`: JSON of everything so far."""
        self._open("run", run)

    def end(self, run: bytes) -> None:
        """Take down the `end`; nothing comes after it."""
        self._open("end", run)
        self.is_over = True

    def add(self, piece: bytes) -> None:
        """Take down a `interval`; raises OSError where the file takes no more."""
        chapter = self._chapter
        text = self._event("interval", self.last + 1, piece)
        self._file.write(text)
        self._file.flush()
        self._size += len(text)
        chapter.ends.append(self._size)

    def tell(self, progress: bytes) -> None:
        """Have the newest `progress`."""
        self._progress = self._progress[0] + 1, b"event: progress\ndata: " + progress + b"\n\n"

    @property
    def last(self) -> int:
        """The number of the newest event; 0 before the first."""
        return self._chapter.number + len(self._chapter.ends)

    def place_of(self, last_event_id: str | None) -> JournalPosition:
        """Where a reader stands that got this id last; at the start, if it is of another run."""
        mark, _, number = (last_event_id or "").partition("-")
        is_ours = mark == self._mark and number.isascii() and number.isdigit()
        # More digits than any number of ours has are not worth reading.
        seen = int(number) if is_ours and len(number) < 16 else 0
        return JournalPosition(seen if seen <= self.last else 0)

    def is_behind(self, place: JournalPosition) -> bool:
        """Whether there is an event with an id that a reader has not got."""
        return place.seen < self.last

    def next(self, place: JournalPosition) -> tuple[JournalPosition, bytes] | None:
        """The next event for a reader, and where it stands then; None until there is more."""
        chapter = self._chapter
        if place.seen < chapter.number:
            return JournalPosition(chapter.number, place.told), chapter.opening
        at = place.seen - chapter.number
        if at < len(chapter.ends):
            start = chapter.ends[at - 1] if at else chapter.start
            text = os.pread(self._file.fileno(), chapter.ends[at] - start, start)
            return JournalPosition(place.seen + 1, place.told), text
        told, progress = self._progress
        if place.told < told and not self.is_over:
            return JournalPosition(place.seen, told), progress
        return None

    def _open(self, kind: str, run: bytes) -> None:
        number = self.last + 1
        self._chapter = _Chapter(number, self._event(kind, number, run), self._size)

    def _event(self, kind: str, number: int, data: bytes) -> bytes:
        # JSON has no line breaks of its own where it is not indented.
        return f"id: {self._mark}-{number}\nevent: {kind}\ndata: ".encode() + data + b"\n\n"
