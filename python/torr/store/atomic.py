"""Replace files atomically.

A reader sees the old content or the new one, also after a crash or on a full disk. The new content
is written to another file first, so the file system needs room for both. Files are private by
default.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


PRIVATE, SHARED = 0o600, 0o666
"""Permissions of a file, before the umask is applied."""


@contextmanager
def replacing(path: Path, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """Return a file that replaces `path` when the block ends without an error.

    A link is followed, and a device or a pipe is written to.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve() if path.is_symlink() else path
    draft = _draft_of(path)
    try:
        with open(draft, "xb", opener=partial(os.open, mode=mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def replace_bytes(path: Path, content: bytes, mode: int = PRIVATE) -> None:
    """Replace a file's content."""
    with replacing(path, mode) as file:
        file.write(content)


def replace_link(path: Path, target: str) -> None:
    """Replace a symbolic link."""
    draft = _draft_of(path)
    try:
        draft.symlink_to(target)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_whole(file: BinaryIO, content: bytes) -> None:
    """Write all content to an unbuffered file."""
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]


def sync_folder(folder: Path) -> None:
    """Make a rename durable, if the file system supports it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)


def _draft_of(path: Path) -> Path:
    """Return a unique name in the same folder; pids are not unique across containers.

    It is short, whatever the length of the file's own name.
    """
    return path.with_name(f".{secrets.token_hex(8)}.tmp")
