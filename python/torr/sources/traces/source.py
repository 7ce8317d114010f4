"""The bytes of a trace: a file or pipe, unpacked, whose beginning is seen before it is read."""

from __future__ import annotations

import gzip
import io
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import msgspec

from torr.errors import FileError, UsageError
from torr.messages.say import say
from torr.model.outside_file import LONGEST_LINE, unpacked_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typing_extensions import Buffer

T = TypeVar("T")

HEAD_BYTES = 1 << 20
"""How much of a file decides about its format."""

_BUFFER_BYTES = 256 << 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TraceSource:
    """A trace that can be read once, as lines of bytes or as text."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self.head = file.read(HEAD_BYTES).removeprefix(_BYTE_ORDER_MARK)
        self._file = file

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not empty, with their numbers."""
        stream = self._stream()
        number = 0
        while line := stream.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise FileError(
                    self.path,
                    number,
                    say("it is longer than {longest_line:,} characters", longest_line=LONGEST_LINE),
                )
            if not line.isspace():
                yield number, line

    def whole(self, most_bytes: int) -> bytes:
        """Return all bytes; raise FileError where they are more than `most_bytes`."""
        content = self._stream().read(most_bytes + 1)
        if len(content) > most_bytes:
            most = say("it is larger than {most} MiB", most=most_bytes >> 20)
            raise FileError(self.path, 1, most)
        return content

    def text(self) -> io.TextIOWrapper:
        """Return the text, with the ends of lines as they are."""
        return io.TextIOWrapper(self._stream(), encoding="utf-8", newline="")

    def decode(self, decoder: msgspec.json.Decoder[T], line: bytes, number: int) -> T:
        """Return the value of a line of JSON; raise FileError."""
        try:
            return decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise FileError(self.path, number, say("not a row: {error}", error=error)) from error

    def _stream(self) -> io.BufferedReader:
        return io.BufferedReader(_Joined(self.head, self._file), _BUFFER_BYTES)


@contextmanager
def opened_source(path: Path) -> Iterator[TraceSource]:
    """Open a trace; inside, errors of reading it become UsageErrors that name it."""
    try:
        with unpacked_file(path) as file:
            yield TraceSource(path, file)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UsageError(
            say("{path}: not a whole gzip file: {error}", path=path, error=error),
            say("fetch it again"),
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(say("{path}: it is not UTF-8", path=path), say("save it as UTF-8")) from (
            error
        )
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


class _Joined(io.RawIOBase):
    """The bytes that were read from a file, and then those that were not."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        super().__init__()
        self._head, self._file = memoryview(head), file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        room = memoryview(buffer)
        part = self._head[: len(room)] or self._file.read(len(room))
        self._head = self._head[len(part) :]
        room[: len(part)] = part
        return len(part)
