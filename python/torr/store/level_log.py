"""The finished levels of an open run, whose intervals are lines of a file.

Memory holds each level and its text, and no interval: a long run needs no more of it than a short
one. The text is made once, when the level is kept: result.json is written again and again.
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


class _Kept(NamedTuple):
    """A level without its intervals, its text, and where in the file those are (in bytes)."""

    level: Level
    text: bytes
    start: int
    end: int


class LevelLog:
    """Intervals go in one by one, levels when they are finished."""

    def __init__(self, path: Path, *, is_new: bool) -> None:
        """Open the file of intervals, where a new one must not be there yet; raise OSError.

        It is a BlockingIOError where another process has it open.
        """
        self._path = path
        opener = partial(os.open, mode=PRIVATE)
        self._intervals: BinaryIO = open(  # noqa: SIM115 - closed by `close`
            path, "xb" if is_new else "r+b", buffering=0, opener=opener
        )
        try:
            fcntl.flock(self._intervals, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._intervals.close()
            raise
        except OSError:
            pass  # a file system without locks
        self._kept: list[_Kept] = []
        self._level_start = 0

    @classmethod
    def reopened(cls, path: Path, levels: Iterable[Level]) -> Self:
        """Have the levels that were kept, each with its intervals; raises OSError.

        The file is written anew from them: its last lines belong to a level that was not finished,
        and after a power cut it may have fewer than there were.
        """
        log = cls(path, is_new=False)
        log._take_back(0)
        for level in levels:
            for piece in level.intervals:
                log.append_interval(piece)
            log.add(msgspec.structs.replace(level, intervals=[]))
        return log

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def _end(self) -> int:
        """Where the next interval goes, by the file: Ctrl-C may follow a write at once."""
        return self._path.stat().st_size if self._intervals.closed else self._intervals.tell()

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a level nor an interval."""
        return self._end == 0 and not self._kept

    @property
    def levels(self) -> list[Level]:
        """The finished levels, without their intervals."""
        return [kept.level for kept in self._kept]

    @property
    def place_of_last(self) -> tuple[int, int]:
        """Where in the file the intervals of the last level are, in bytes."""
        return self._kept[-1].start, self._kept[-1].end

    def full_levels(self, first: int = 0) -> list[Level]:
        """The finished levels from one on, with their intervals, read back from the disk."""
        full = []
        with self._path.open("rb") as intervals:
            for level, _, start, end in self._kept[first:]:
                intervals.seek(start)
                lines = intervals.read(end - start).splitlines()
                found = [_INTERVALS.decode(line) for line in lines]
                full.append(msgspec.structs.replace(level, intervals=found))
        return full

    def append_interval(self, piece: Interval) -> None:
        """Write an interval's line; raises OSError, and leaves no half of it."""
        line = encode(piece) + b"\n"
        start = self._end
        try:
            write_whole(self._intervals, line)
        except BaseException:
            self._take_back(start)
            raise

    def add(self, level: Level) -> None:
        """A level has finished: the intervals since the last one are its."""
        self._kept.append(_Kept(level, _text(level), self._level_start, self._end))
        self._level_start = self._kept[-1].end

    def replace_last(self, level: Level) -> None:
        """More is known about the last level."""
        last = self._kept[-1]
        self._kept[-1] = _Kept(level, _text(level), last.start, last.end)

    def write(self, sink: BinaryIO) -> None:
        """The levels with their intervals, as the members of an array."""
        with self._path.open("rb") as intervals:
            for position, (_, text, start, end) in enumerate(self._kept):
                sink.write((b",\n" if position else b"\n") + text)
                _copy_lines(intervals, sink, start, end)
                sink.write(b"]}")

    def sync(self) -> None:
        """Have the intervals so far on disk; raises OSError."""
        os.fsync(self._intervals.fileno())

    def close(self) -> None:
        """Close the file of intervals."""
        self._intervals.close()

    def _take_back(self, end: int) -> None:
        """Cut off what lies behind, such as a half-written line."""
        with suppress(OSError):
            self._intervals.truncate(end)
            self._intervals.seek(end)


def _text(level: Level) -> bytes:
    """A level up to its intervals, which are its last key."""
    text = encode(level)
    assert text.endswith(_NO_INTERVALS)  # noqa: S101 - the order of the fields
    return text.removesuffix(b"]}")


def _copy_lines(source: BinaryIO, sink: BinaryIO, start: int, end: int) -> None:
    """The lines between two offsets as the members of an array."""
    source.seek(start)
    first = True
    while start < end:
        line = source.readline()
        start += len(line)
        sink.write((b"" if first else b",") + line.rstrip(b"\n"))
        first = False
