"""The finished levels of an open run, whose intervals are lines of a file.

Levels and their JSON are in memory, intervals are not: so memory does not grow with the length of
levels. The JSON is made once per level, since result.json is written repeatedly.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import msgspec

from torr.results.base import decode_message, encode
from torr.results.level import Interval, Level
from torr.store.atomic import PRIVATE, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from typing_extensions import Self

_INTERVALS = msgspec.json.Decoder(Interval, dec_hook=decode_message)
_NO_INTERVALS = b'"intervals":[]}'


def try_lock(intervals: BinaryIO) -> bool:
    """Lock a run; return False if another torr has it open."""
    try:
        fcntl.flock(intervals, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return True


class _StoredLevel(NamedTuple):
    """A level without intervals, its JSON, and the range of the intervals in the file, in bytes."""

    level: Level
    text: bytes
    start: int
    end: int


class LevelLog:
    """The intervals of a run, appended one by one, and its finished levels."""

    def __init__(self, path: Path, *, is_new: bool) -> None:
        """Open the file of intervals; with `is_new` it must not exist. Raise OSError on failure.

        The error is a BlockingIOError if another process has the file open.
        """
        self._path = path
        opener = partial(os.open, mode=PRIVATE)
        self._intervals: BinaryIO = open(  # noqa: SIM115 - closed by `close`
            path, "xb" if is_new else "r+b", buffering=0, opener=opener
        )
        if not try_lock(self._intervals):
            self._intervals.close()
            raise BlockingIOError
        self._stored: list[_StoredLevel] = []
        self._level_start = 0

    @classmethod
    def reopen(cls, path: Path, levels: Iterable[Level]) -> Self:
        """Reopen the log of a run with these finished levels; raise OSError on failure.

        The file is rewritten from the levels: its last lines belong to an unfinished level, and
        lines may be missing after a power failure.
        """
        log = cls(path, is_new=False)
        log._truncate(0)
        for level in levels:
            for piece in level.intervals:
                log.append_interval(piece)
            log.add(msgspec.structs.replace(level, intervals=[]))
        return log

    def __len__(self) -> int:
        return len(self._stored)

    @property
    def _end(self) -> int:
        """Return the end of the file; a counter could be wrong after Ctrl-C during a write."""
        return self._path.stat().st_size if self._intervals.closed else self._intervals.tell()

    @property
    def is_empty(self) -> bool:
        """Return whether there is neither a level nor an interval."""
        return self._end == 0 and not self._stored

    @property
    def levels(self) -> list[Level]:
        """Return the finished levels, without intervals."""
        return [stored.level for stored in self._stored]

    @property
    def last_interval_range(self) -> tuple[int, int]:
        """Return the range of the last level's intervals in the file, in bytes."""
        return self._stored[-1].start, self._stored[-1].end

    def full_levels(self, first: int = 0) -> list[Level]:
        """Return the finished levels from index `first` on, with intervals, which are read back."""
        full = []
        with self._path.open("rb") as intervals:
            for level, _, start, end in self._stored[first:]:
                intervals.seek(start)
                lines = intervals.read(end - start).splitlines()
                decoded = [_INTERVALS.decode(line) for line in lines]
                full.append(msgspec.structs.replace(level, intervals=decoded))
        return full

    def append_interval(self, piece: Interval) -> None:
        """Append an interval, whole or not at all; raise OSError on failure."""
        line = encode(piece) + b"\n"
        start = self._end
        try:
            write_whole(self._intervals, line)
        except BaseException:
            self._truncate(start)
            raise

    def add(self, level: Level) -> None:
        """Add a finished level, to which the intervals since the last one belong."""
        self._stored.append(_StoredLevel(level, _text(level), self._level_start, self._end))
        self._level_start = self._stored[-1].end

    def replace_last(self, level: Level) -> None:
        """Replace the last level, without changing its intervals."""
        last = self._stored[-1]
        self._stored[-1] = _StoredLevel(level, _text(level), last.start, last.end)

    def write(self, sink: BinaryIO) -> None:
        """Write the levels with their intervals, as the members of a JSON array."""
        with self._path.open("rb") as intervals:
            for position, (_, text, start, end) in enumerate(self._stored):
                sink.write((b",\n" if position else b"\n") + text)
                _copy_lines(intervals, sink, start, end)
                sink.write(b"]}")

    def sync(self) -> None:
        """Flush the intervals to disk; raise OSError on failure."""
        os.fsync(self._intervals.fileno())

    def close(self) -> None:
        """Close the file of intervals."""
        self._intervals.close()

    def _truncate(self, end: int) -> None:
        """Cut the file, to remove an incomplete line."""
        with suppress(OSError):
            self._intervals.truncate(end)
            self._intervals.seek(end)


def _text(level: Level) -> bytes:
    """Return the JSON of a level up to its intervals, which are its last key."""
    text = encode(level)
    assert text.endswith(_NO_INTERVALS)  # noqa: S101 - the order of the fields
    return text.removesuffix(b"]}")


def _copy_lines(source: BinaryIO, sink: BinaryIO, start: int, end: int) -> None:
    """Copy the lines between two offsets, as the members of a JSON array."""
    source.seek(start)
    first = True
    while start < end:
        line = source.readline()
        start += len(line)
        sink.write((b"" if first else b",") + line.rstrip(b"\n"))
        first = False
