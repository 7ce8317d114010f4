"""`levels.jsonl`: the finished levels of an open run, on disk before the next level begins.

    {"run": {…}}                                     the header of the run, the first line
    {"level": {…}, "at": 3, "from": 80, "to": 160}   the fourth level; its intervals are these
                                                     bytes of intervals.jsonl; a later line has more
    {"failure": {…}, "at": 0}                        the first trial that failed
    {"sections": {…}}                                the conclusions; the last such line counts

The cost of a line is independent of the number of levels, unlike that of result.json. A killed run
leaves the file, and `recover` adds its lines to result.json. Each line has its index, so that
adding it twice is harmless.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from torr.errors import OutputError, UsageError
from torr.messages.say import say
from torr.model.json_input import JsonInputError, parse_json
from torr.results.base import encode
from torr.store.atomic import PRIVATE, replace_bytes, sync_folder, write_whole
from torr.store.level_log import try_lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torr.model.json import JsonObject


INTERVALS = "intervals.jsonl"
_LEVELS, _RESULT = "levels.jsonl", "result.json"
# The names of the file and of a level's key in earlier versions.
_OLD_INTERVALS, _OLD_KEY = "slices.jsonl", "slices"


class LevelLines:
    """The lines of an open run; the file is created with the first one."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _LEVELS
        self._file: BinaryIO | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether there is no line yet."""
        return self._file is None

    def append(self, line: JsonObject) -> None:
        """Write a line to disk, whole or not at all; raise OSError on failure."""
        file = self._file = self._file or self._create()
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
        """Close the file without removing it."""
        if self._file is not None:
            self._file.close()

    def remove(self) -> None:
        """Remove the file when result.json is complete."""
        self.close()
        self._path.unlink(missing_ok=True)

    def _create(self) -> BinaryIO:
        opener = partial(os.open, mode=PRIVATE)
        file = open(self._path, "wb", buffering=0, opener=opener)  # noqa: SIM115 - by `close`
        sync_folder(self._path.parent)
        return file


def recover(path: Path) -> Path:
    """Return the result.json of a run, after adding the finished levels of a killed run.

    `path` is the run directory or a file, which is returned unchanged unless it is the result.json
    of a killed run. A run in progress is not changed. Raises OutputError if result.json cannot be
    written, UsageError if the lines cannot be read.
    """
    file = path / _RESULT if path.is_dir() else path
    lines = file.with_name(_LEVELS)
    if file.name != _RESULT or not lines.exists():
        return file
    try:
        with intervals_of(file.parent).open("r+b") as intervals:
            if try_lock(intervals):
                _add_lines(file, lines, intervals)
    except OSError as error:
        raise OutputError(
            say(
                "{lines} has levels that {result} lacks, and {result} cannot be written: {error}",
                lines=lines,
                result=_RESULT,
                error=error.strerror or error,
            ),
            say("free disk space, or copy the directory to a place where you may write"),
        ) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UsageError(
            say("{lines} cannot be read: {error}", lines=lines, error=error),
            say("without that file, torr reads only {result}", result=_RESULT),
        ) from error
    return file


def intervals_of(folder: Path) -> Path:
    """Return the file of a run's intervals, which earlier versions named otherwise."""
    old = folder / _OLD_INTERVALS
    return old if old.exists() else folder / INTERVALS


def _add_lines(file: Path, lines: Path, intervals: BinaryIO) -> None:
    """Add the lines to result.json, and remove them."""
    first, *others = [*_whole_lines(lines)] or [{"run": {}}]
    result: JsonObject = {**first["run"], "levels": [], "capacity": None, "verdicts": []}
    if file.exists():
        try:
            result = parse_json(file.read_bytes())
        except JsonInputError:
            return  # the reader of result.json reports the error
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
    """Yield the lines without a last one that is incomplete."""
    with path.open("rb") as lines:
        for text in lines:
            if text.endswith(b"\n"):
                yield parse_json(text)
