"""`levels.jsonl`: what an open run has finished, a line each, on disk before the next level begins.

    {"run": {…}}                                     what is known of the run, the first line
    {"level": {…}, "at": 3, "from": 80, "to": 160}   the fourth level; its intervals are these
                                                     bytes of intervals.jsonl; a later line has more
    {"failure": {…}, "at": 0}                        the first trial that came to nothing
    {"sections": {…}}                                what all so far comes to; the last line counts

A line costs the same after a thousand levels as after one, which result.json does not. A run that
was killed leaves the file, and `recovered` adds to result.json what only the lines have. Each line
has its place, so that it may be read twice.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from torr.errors import OutputError, UsageError
from torr.model.json_input import JsonInputError, parse_json
from torr.results.base import encode
from torr.store.atomic import PRIVATE, replace_bytes, sync_folder, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torr.model.json import JsonObject


INTERVALS = "intervals.jsonl"
_LEVELS, _RESULT = "levels.jsonl", "result.json"
# What an older torr called the file, and the key of a level.
_OLD_INTERVALS, _OLD_KEY = "slices.jsonl", "slices"


class LevelLines:
    """The lines of an open run; the file is made with the first one."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _LEVELS
        self._file: BinaryIO | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is no line yet."""
        return self._file is None

    def append(self, line: JsonObject) -> None:
        """Have a line on disk, or nothing of it; raises OSError."""
        file = self._file = self._file or self._made()
        start = file.tell()
        try:
            write_whole(file, encode(line) + b"\n")
            os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                file.truncate(start)
                file.seek(start)
            raise

    def close(self) -> None:
        """Close the file, which stays."""
        if self._file is not None:
            self._file.close()

    def remove(self) -> None:
        """Remove the file: result.json has everything."""
        self.close()
        self._path.unlink(missing_ok=True)

    def _made(self) -> BinaryIO:
        opener = partial(os.open, mode=PRIVATE)
        file = open(self._path, "wb", buffering=0, opener=opener)  # noqa: SIM115 - by `close`
        sync_folder(self._path.parent)
        return file


def recovered(path: Path) -> Path:
    """Return the result.json of a run, with all that a run that was killed had finished.

    `path` is the run's directory or a file, which is returned as it is unless it is the result.json
    of such a run. A run that goes on is left alone. Raises OutputError where result.json cannot be
    written, UsageError where the lines cannot be read.
    """
    file = path / _RESULT if path.is_dir() else path
    lines = file.with_name(_LEVELS)
    if file.name != _RESULT or not lines.exists():
        return file
    try:
        with intervals_of(file.parent).open("r+b") as intervals:
            if _is_locked(intervals):
                _add_lines(file, lines, intervals)
    except OSError as error:
        raise OutputError(
            f"{lines} has levels that {_RESULT} has not, and that cannot be written:"
            f" {error.strerror or error}",
            "make room, or copy the directory to a place where you may write",
        ) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{lines} cannot be read: {error}", f"without it, {_RESULT} is read alone"
        ) from error
    return file


def intervals_of(folder: Path) -> Path:
    """Return the file of a run's intervals, by the name that the torr which wrote it had for it."""
    old = folder / _OLD_INTERVALS
    return old if old.exists() else folder / INTERVALS


def _is_locked(intervals: BinaryIO) -> bool:
    """Whether no torr has the run open; from now on no other one opens it."""
    try:
        fcntl.flock(intervals, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return True


def _add_lines(file: Path, lines: Path, intervals: BinaryIO) -> None:
    """Add to result.json what the lines say, and remove them."""
    first, *others = [*_whole_lines(lines)] or [{"run": {}}]
    result: JsonObject = {**first["run"], "levels": [], "capacity": None, "verdicts": []}
    if file.exists():
        try:
            result = parse_json(file.read_bytes())
        except JsonInputError:
            return  # its reader says what is wrong with it
    is_old = intervals.name.endswith(_OLD_INTERVALS)
    for line in others:
        if "sections" in line:
            result.update(line["sections"])
            continue
        kind = "level" if "level" in line else "failure"
        entry = line[kind]
        if kind == "level":
            intervals.seek(line["from"])
            texts = intervals.read(line["to"] - line["from"]).splitlines()
            entry[_OLD_KEY if is_old else "intervals"] = [json.loads(text) for text in texts]
        result.setdefault(f"{kind}s", [])[line["at"] : line["at"] + 1] = [entry]
    if others:
        replace_bytes(file, json.dumps(result).encode() + b"\n")
    lines.unlink()


def _whole_lines(path: Path) -> Iterator[JsonObject]:
    """Yield what the lines say; the last one may be half of one."""
    with path.open("rb") as lines:
        for text in lines:
            if text.endswith(b"\n"):
                yield parse_json(text)
