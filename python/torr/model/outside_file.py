"""Files from outside torr, read up to a limit of size, and without waiting forever.

torr reads regular files and pipes, such as that of `--requests-file <(command)`. It refuses a
device such as /dev/zero, which has no end, and a pipe that delivers nothing in time. Each fault is
an OSError as those of the system are, so that every reader can word its own message.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import select
import stat
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from torr.errors import FileError, UsageError
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_BYTES = 256 << 20
"""The largest file that people write or record: requests, prompts, plans, bodies."""
MOST_RESULT_BYTES = 1 << 30
"""The largest result.json, which has a part for each second of each level."""
LONGEST_LINE = 16 << 20
"""The most characters of a line in a file that is read line by line, whatever its size."""

# /dev/null, the only device that has an end.
_NULL_DEVICE = os.makedev(1, 3)
_CHUNK_BYTES = 1 << 20
# The first bytes of a gzip file.
_GZIP = b"\x1f\x8b"
# The longest wait for the first byte of a pipe.
_FIRST_BYTE_TIMEOUT_S = 60.0


class OutsideFileError(OSError):
    """An error of a file that torr refuses to read; `strerror` says why."""


def read_bounded(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a file or pipe; raise OSError, also where it is too large."""
    parts, remaining = [], most_bytes + 1
    with _opened(path) as file:
        while remaining and (part := file.read(min(remaining, _CHUNK_BYTES))):
            parts.append(part)
            remaining -= len(part)
    if not remaining:
        raise _error(errno.EFBIG, f"it is larger than {most_bytes >> 20} MiB", path)
    return b"".join(parts)


def read_text(path: Path, what: str | None = None, most_bytes: int = MOST_BYTES) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark.

    Raise UsageError, which calls the file `what`; a FileError names the line that is not UTF-8.
    """
    try:
        content = read_bounded(path, most_bytes)
    except OSError as error:
        raise UsageError(f"{what or path}: {error.strerror}") from error
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise not_utf8(path, content, error) from error


def not_utf8(path: Path, content: bytes, error: UnicodeDecodeError) -> FileError:
    """Return the error of a file that is not UTF-8, at its line."""
    line = content.count(b"\n", 0, error.start) + 1
    return FileError(
        path, line, say("byte {start} is not UTF-8", start=error.start), say("save it as UTF-8")
    )


def lines_of(
    path: Path, *, encoding: str = "utf-8", errors: str = "strict", newline: str | None = None
) -> Iterator[str]:
    """Yield the lines of a file one by one, with their ends, as `open` does.

    Raise OSError, UnicodeDecodeError, and FileError for a line longer than LONGEST_LINE.
    """
    with (
        _opened(path) as file,
        io.TextIOWrapper(file, encoding=encoding, errors=errors, newline=newline) as lines,
    ):
        number = 0
        while line := lines.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise FileError(
                    path,
                    number,
                    say("it is longer than {longest_line:,} characters", longest_line=LONGEST_LINE),
                )
            yield line


@contextmanager
def unpacked_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file or pipe to be read from its beginning; what is packed by gzip is unpacked.

    Raise OSError. Reading a damaged gzip file raises EOFError, zlib.error or gzip.BadGzipFile.
    """
    with _opened(path) as file:
        if file.peek(len(_GZIP))[: len(_GZIP)] != _GZIP:
            yield file
            return
        with gzip.GzipFile(fileobj=file) as content, io.BufferedReader(content) as buffered:
            yield buffered


def unpacked(packed: bytes, most_bytes: int, *, is_gzip: bool = False) -> bytes:
    """Return the content of zlib or gzip data; raise zlib.error, also where it is too large."""
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16 if is_gzip else zlib.MAX_WBITS)
    content = unpacking.decompress(packed, most_bytes + 1)
    if len(content) > most_bytes:
        raise zlib.error(f"more than {most_bytes:,} bytes once unpacked")
    if not unpacking.eof:
        raise zlib.error("incomplete or truncated stream")
    return content


def check_readable(path: Path) -> None:
    """Raise OSError for a file that cannot be read; read nothing from a pipe."""
    try:
        _check_kind(path.stat(), path)
    except ValueError as error:
        raise _no_name(path) from error
    if not os.access(path, os.R_OK):
        raise _error(errno.EACCES, os.strerror(errno.EACCES), path)


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedReader]:
    try:
        # O_NONBLOCK, since opening a pipe without a writer would block forever.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError as error:
        raise _no_name(path) from error
    try:
        opened = os.fdopen(file, "rb")
    except OSError:
        os.close(file)  # fdopen leaves the descriptor of a directory open
        raise
    with opened:
        status = os.fstat(file)
        _check_kind(status, path)
        if stat.S_ISFIFO(status.st_mode):
            _await(file, path)
            os.set_blocking(file, True)
        yield opened


def _check_kind(status: os.stat_result, path: Path) -> None:
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        raise _error(errno.EISDIR, os.strerror(errno.EISDIR), path)
    is_empty = stat.S_ISCHR(mode) and status.st_rdev == _NULL_DEVICE
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or is_empty):
        raise _error(errno.EINVAL, "it is neither a file nor a pipe", path)


def _await(file: int, path: Path) -> None:
    """Wait until a pipe has data, or its other end is closed."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    if not poll.poll(_FIRST_BYTE_TIMEOUT_S * 1000):
        wait = f"{_FIRST_BYTE_TIMEOUT_S:g} s"
        raise _error(errno.ETIMEDOUT, f"nothing came through this pipe in {wait}", path)


def _no_name(path: Path) -> OutsideFileError:
    return _error(errno.EINVAL, "no file can have this name", path)


def _error(number: int, why: str, path: Path) -> OutsideFileError:
    return OutsideFileError(number, why, str(path))
