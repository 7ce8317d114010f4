"""Rows of a trace, read one by one: a trace may be larger than the memory.

    trace = read_trace(Path("conversation_trace.jsonl"))
    for row in trace: …
    trace.counts.left_out

The format is recognised by how the file begins. Files may be packed by gzip. A folder has a file
for each session of Weka's format.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.sources.traces import weka
from torr.sources.traces.formats import format_of, named_format
from torr.sources.traces.row import TraceCounts
from torr.sources.traces.source import opened_source
from torr.sources.traces.trace_format import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from typing_extensions import Self

    from torr.sources.traces.row import TraceRow
    from torr.sources.traces.source import TraceSource
    from torr.sources.traces.trace_format import TraceFormat

_SESSION_FILES = (".json", ".json.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
_PIECE_BYTES = 1 << 20
_ALL = ReadOptions()


class Trace:
    """The rows of a trace, which can be read once; `counts` has what was left out so far."""

    format: TraceFormat
    counts: TraceCounts

    def __init__(self, path: Path, name: str | None, options: ReadOptions) -> None:
        self.path, self.counts = path, TraceCounts()
        self._read = self._folder(name, options) if path.is_dir() else self._file(name, options)
        first = next(self._read, None)
        if first is None:
            raise UsageError(
                say("{path}: there is no request that can be sent", path=path),
                say("left out: {what}", what=self.counts.text) if self.counts.left_out else None,
            )
        self._rows: Iterator[TraceRow] = itertools.chain([first], self._read)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> TraceRow:
        return next(self._rows)

    def close(self) -> None:
        """Close the file, where not all rows are read."""
        self._read.close()

    def _file(self, name: str | None, options: ReadOptions) -> Generator[TraceRow, None, None]:
        with opened_source(self.path) as source:
            self.format = format_of(source) if name is None else named_format(name)
            yield from self.format.read(source, options, self.counts)

    def _folder(self, name: str | None, options: ReadOptions) -> Generator[TraceRow, None, None]:
        self.format = named_format(name or weka.FORMAT.name)
        if self.format is not weka.FORMAT:
            raise UsageError(
                say("{path} is a folder, and only Weka's format has one", path=self.path),
                say("name the file"),
            )
        files = _session_files(self.path)
        yield from weka.read_sessions(files, options, self.counts)


def read_trace(path: Path, format: str | None = None, options: ReadOptions = _ALL) -> Trace:  # noqa: A002
    """Open a trace, and read its first row; raise UsageError.

    Iterating raises a FileError with the file and the line of what cannot be read.
    """
    return Trace(path, format, options)


def refuse_pipe(path: Path) -> None:
    """Refuse a pipe where a trace is read more than once."""
    require(
        not path.is_fifo(),
        say("{path} is a pipe, which can be read only once", path=path),
        say("store the trace in a file: it is read again for each level and candidate"),
    )


def bytes_of(path: Path) -> Iterator[bytes]:
    """Yield the content of a trace in pieces, as it is stored; raise UsageError."""
    refuse_pipe(path)
    try:
        for file in _session_paths(path) if path.is_dir() else [path]:
            with file.open("rb") as content:
                while piece := content.read(_PIECE_BYTES):
                    yield piece
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _session_paths(folder: Path) -> list[Path]:
    """Return the files of a folder in order; raise UsageError if there is none."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.name.endswith(_SESSION_FILES))
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}") from error
    if not paths:
        raise UsageError(
            say("{path}: there is no session in this folder", path=folder),
            say("a session is a file that ends with .json, .jsonl, .json.gz or .jsonl.gz"),
        )
    return paths


def _session_files(folder: Path) -> Iterator[TraceSource]:
    """Yield the open files of a folder, each until the next one is asked for."""
    for path in _session_paths(folder):
        with opened_source(path) as source:
            yield source
