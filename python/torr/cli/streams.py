"""Standard streams that never end a command: what cannot be printed is lost, and nothing else.

A reader may close its pipe, a disk may be full, a stream may be closed from the start. The result
of a load is in files by then, and its exit code is a verdict on the target: neither may depend on
what can be printed.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Buffer

_STDOUT, _STDERR = 1, 2


class Printed:
    """Whether a command has left its result in files, so that printing it is a convenience."""

    is_in_files = False


printed = Printed()


class LossyFile(io.FileIO):
    """A descriptor whose writes always succeed; the first error of the system is in `error`."""

    error: OSError | None = None

    def write(self, data: Buffer, /) -> int:
        """Write the data, or lose it."""
        while self.error is None:
            try:
                written = super().write(data)
            except OSError as error:
                self.error = error
                break
            if written is not None:
                return written
            select.select([], [self], [])  # a terminal or pipe that its owner made non-blocking
        return memoryview(data).nbytes

    @property
    def loss(self) -> str | None:
        """Why output is lost that somebody would have read; None where its reader closed a pipe."""
        if self.error is None or self.error.errno == errno.EPIPE:
            return None
        return self.error.strerror or str(self.error)


def prepare_streams() -> LossyFile | None:
    """Make both output streams lossy; return the file of stdout, None where a caller reads it."""
    _open_closed_streams()
    sys.stderr, _ = _lossy(sys.stderr, _STDERR)
    sys.stdout, file = _lossy(sys.stdout, _STDOUT)
    return file


def _open_closed_streams() -> None:
    """Give the standard streams that were closed when the process started to the null device.

    Else the next file that is opened would get their numbers, and what is printed.
    """
    # What is opened gets the lowest number that is free.
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(_STDOUT, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(_STDERR, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _lossy(stream: TextIO, number: int) -> tuple[TextIO, LossyFile | None]:
    """Return a stream to the same descriptor that loses what cannot be written, and its file.

    A stream that somebody put in the place of the process's own stays, and has no file.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return stream, None
    stream.reconfigure(errors="replace")  # an old locale must not cost a result
    if _number_of(stream) != number:
        return stream, None
    file = LossyFile(number, "w", closefd=False)
    text = io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=stream.encoding,
        errors="replace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    return text, file


def _number_of(stream: io.TextIOWrapper) -> int | None:
    try:
        return stream.fileno()
    except OSError:
        return None


def show_notes(notes: Iterable[str]) -> None:
    """Print to stderr what the user should know of the files that were read."""
    for note in notes:
        click.echo(f"note: {note}", err=True)
