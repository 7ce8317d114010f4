"""Standard streams whose errors do not end a command: text that cannot be written is lost.

A reader may close its pipe, a disk may be full, a stream may be closed from the start. The result
of a load is in files by then, and its exit code is a verdict on the target: printing changes
neither.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import click

from torr.cli.wrapping import for_stream
from torr.messages.catalogue import ENGLISH, languages
from torr.messages.say import padded, render, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Buffer

    from torr.messages.say import Language

_STDOUT, _STDERR = 1, 2
_LABEL = 8  # cells of the terminal


@dataclass
class Printed:
    """The language of what the command prints.

    With `is_in_files` its result is in files, so that lost output is no error.
    """

    language: Language = ENGLISH
    is_in_files: bool = False

    def reset(self) -> None:
        """Begin a command: in the language of TORR_LANG, if there is such a language."""
        language = os.environ.get("TORR_LANG", ENGLISH)
        self.language = language if language in languages() else ENGLISH
        self.is_in_files = False

    def forget(self) -> None:
        """End a command: what is printed after it is in English."""
        self.language = ENGLISH
        self.is_in_files = False


printed = Printed()


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text in the language of the command."""
    written = render(text, printed.language)
    click.echo(for_stream(written, sys.stderr) if err and nl else written, err=err, nl=nl)


def echo_pair(label: str, text: str, *, err: bool = False) -> None:
    """Print a label, padded to a common width, and a text."""
    written = padded(render(label, printed.language), _LABEL)
    click.echo(f"{written}{render(text, printed.language)}", err=err)


class LossyFile(io.FileIO):
    """A file whose writes always succeed; `error` is the first error of the system."""

    error: OSError | None = None

    def write(self, data: Buffer, /) -> int:
        """Write the data, or discard it after an error."""
        while self.error is None:
            try:
                written = super().write(data)
            except OSError as error:
                self.error = error
                break
            if written is not None:
                return written
            select.select([], [self], [])  # the descriptor is non-blocking
        return memoryview(data).nbytes

    @property
    def loss(self) -> str | None:
        """The reason for lost output; None if none is lost or the reader closed the pipe."""
        if self.error is None or self.error.errno == errno.EPIPE:
            return None
        return self.error.strerror or str(self.error)


def prepare_streams() -> LossyFile | None:
    """Make both output streams lossy; return the file of stdout, None if it was replaced."""
    _open_closed_streams()
    sys.stderr, _ = _lossy(sys.stderr, _STDERR)
    sys.stdout, file = _lossy(sys.stdout, _STDOUT)
    return file


def _open_closed_streams() -> None:
    """Open the null device for standard streams that were closed when the process started.

    Otherwise the next file that is opened gets their descriptors, and the output.
    """
    # A new file gets the lowest free descriptor.
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(_STDOUT, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(_STDERR, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _lossy(stream: TextIO, number: int) -> tuple[TextIO, LossyFile | None]:
    """Return a lossy stream to the same descriptor, and its file.

    A stream that replaces the one of the process is returned as it is, without a file.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return stream, None
    stream.reconfigure(errors="replace")  # for locales that cannot encode a text
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
    """Print notes to stderr."""
    for note in notes:
        echo(say("note: {text}", text=note), err=True)
