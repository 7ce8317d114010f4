"""The server-sent events of a run, with ids, so that late or returning readers miss nothing.

    run, interval, interval, …, run, interval, …, end

A `run` includes everything before it, so only the newest is stored, with the intervals after it.
Intervals are in an unnamed file: memory holds the newest `run` and eight bytes per interval.
`progress` has no id, and only the newest is stored.

One thread writes without waiting; others read concurrently, each with its position. No lock is
needed: the current `run` is replaced at once, and an interval is in the file before its end is in
the list.
"""

from __future__ import annotations

import os
import secrets
from array import array
from dataclasses import dataclass, field
from typing import BinaryIO


@dataclass(frozen=True, slots=True)
class JournalPosition:
    """The position of a reader: the numbers of its last event and of its last progress."""

    seen: int = 0
    progress: int = 0


@dataclass(slots=True)
class _RunEvent:
    """A `run` or the `end`, and the ends of the intervals after it in the file."""

    number: int
    opening: bytes
    start: int
    ends: array[int] = field(default_factory=lambda: array("Q"))


class Journal:
    """The events of one run, whose intervals are appended to `file`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = 0
        # Distinguishes ids of this run from those of an earlier run on the same port.
        self._run_mark = secrets.token_hex(4)
        self._current = _RunEvent(0, b"", 0)
        self._progress = (0, b"")
        self.is_over = False

    def begin(self, run: bytes) -> None:
        """Add a `run`: the JSON of everything so far."""
        self._start("run", run)

    def end(self, run: bytes) -> None:
        """Add the `end`, the last event."""
        self._start("end", run)
        self.is_over = True

    def add(self, piece: bytes) -> None:
        """Add an `interval`; raise OSError if the file cannot be written."""
        current = self._current
        text = self._event("interval", self.last + 1, piece)
        self._file.write(text)
        self._file.flush()
        self._size += len(text)
        current.ends.append(self._size)

    def set_progress(self, progress: bytes) -> None:
        """Replace the newest `progress`."""
        self._progress = self._progress[0] + 1, b"event: progress\ndata: " + progress + b"\n\n"

    @property
    def last(self) -> int:
        """Return the number of the newest event; 0 before the first."""
        return self._current.number + len(self._current.ends)

    def position_of(self, last_event_id: str | None) -> JournalPosition:
        """Return the position of a reader with this last id; the start for ids of other runs."""
        mark, _, number = (last_event_id or "").partition("-")
        is_own = mark == self._run_mark and number.isascii() and number.isdigit()
        # No own id has more digits.
        seen = int(number) if is_own and len(number) < 16 else 0
        return JournalPosition(seen if seen <= self.last else 0)

    def is_behind(self, position: JournalPosition) -> bool:
        """Return whether there is an event with an id after a position."""
        return position.seen < self.last

    def next(self, position: JournalPosition) -> tuple[JournalPosition, bytes] | None:
        """Return the position after the next event, and the event; None without a new one."""
        current = self._current
        if position.seen < current.number:
            return JournalPosition(current.number, position.progress), current.opening
        at = position.seen - current.number
        if at < len(current.ends):
            start = current.ends[at - 1] if at else current.start
            text = os.pread(self._file.fileno(), current.ends[at] - start, start)
            return JournalPosition(position.seen + 1, position.progress), text
        number, progress = self._progress
        if position.progress < number and not self.is_over:
            return JournalPosition(position.seen, number), progress
        return None

    def _start(self, kind: str, run: bytes) -> None:
        number = self.last + 1
        self._current = _RunEvent(number, self._event(kind, number, run), self._size)

    def _event(self, kind: str, number: int, data: bytes) -> bytes:
        # JSON without indentation has no line breaks.
        return f"id: {self._run_mark}-{number}\nevent: {kind}\ndata: ".encode() + data + b"\n\n"
