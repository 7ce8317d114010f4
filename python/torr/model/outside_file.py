"""Files from outside torr, read up to a limit, and only those whose end comes.

A regular file is read, and a pipe, as `--requests-file <(command)` gives one. A device such as
/dev/zero has no end, and is refused, as is a pipe through which nothing comes. What is wrong with a
file is an OSError as the system's own are, so that every reader says it in its own words.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from torr.errors import FileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_BYTES = 256 << 20
"""Of a file that people write or record: requests, prompts, plans, bodies."""
MOST_RESULT_BYTES = 1 << 30
"""Of a result.json, which has a part for each second of each level."""
LONGEST_LINE = 16 << 20
"""Characters of a line, where a file is read line by line and may be longer than all limits."""

# /dev/null, the only device that has an end.
_NULL_DEVICE = os.makedev(1, 3)
_CHUNK_BYTES = 1 << 20
# A program whose output is a pipe has so long until its first byte.
_PATIENCE_S = 60.0


class OutsideFileError(OSError):
    """A file that is not read; `strerror` says why."""


def read_bounded(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a file or pipe; raises OSError, also where there is too much."""
    parts, left = [], most_bytes + 1
    with _opened(path) as file:
        while left and (part := file.read(min(left, _CHUNK_BYTES))):
            parts.append(part)
            left -= len(part)
    if not left:
        raise _error(errno.EFBIG, f"it is larger than {most_bytes >> 20} MiB", path)
    return b"".join(parts)


def read_text(path: Path, what: str | None = None, most_bytes: int = MOST_BYTES) -> str:
    """Return the text of a file; raises UsageError, which calls the file `what`.

    It is UTF-8, with or without a mark at its start; what is not is a FileError at its line.
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
    return FileError(path, line, f"byte {error.start} is not UTF-8", "save it as UTF-8")


def lines_of(
    path: Path, *, encoding: str = "utf-8", errors: str = "strict", newline: str | None = None
) -> Iterator[str]:
    """Yield the lines of a file one by one, with their ends, as `open` does.

    Raises OSError, UnicodeDecodeError, and FileError for a line that is too long to be one.
    """
    with (
        _opened(path) as file,
        io.TextIOWrapper(file, encoding=encoding, errors=errors, newline=newline) as lines,
    ):
        number = 0
        while line := lines.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise FileError(path, number, f"it is longer than {LONGEST_LINE:,} characters")
            yield line


def unpacked(packed: bytes, most_bytes: int) -> bytes:
    """Return what zlib has packed; raises zlib.error, also where it is too much."""
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(packed, most_bytes + 1)
    if len(content) > most_bytes:
        raise zlib.error(f"more than {most_bytes:,} bytes once unpacked")
    if not unpacking.eof:
        raise zlib.error("incomplete or truncated stream")
    return content


def check_readable(path: Path) -> None:
    """Raise OSError for a file that cannot be read; nothing is taken out of a pipe."""
    try:
        _check_kind(path.stat(), path)
    except ValueError as error:
        raise _no_name(path) from error
    if not os.access(path, os.R_OK):
        raise _error(errno.EACCES, os.strerror(errno.EACCES), path)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        # Without waiting, since a pipe into which nobody writes would be waited for without end.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError as error:
        raise _no_name(path) from error
    try:
        opened = os.fdopen(file, "rb")
    except OSError:
        os.close(file)  # that of a directory, which fdopen leaves open
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
    """Wait until something came through a pipe, or its other end was closed."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    if not poll.poll(_PATIENCE_S * 1000):
        raise _error(errno.ETIMEDOUT, f"nothing came through this pipe in {_PATIENCE_S:g} s", path)


def _no_name(path: Path) -> OutsideFileError:
    return _error(errno.EINVAL, "no file can have this name", path)


def _error(number: int, why: str, path: Path) -> OutsideFileError:
    return OutsideFileError(number, why, str(path))
