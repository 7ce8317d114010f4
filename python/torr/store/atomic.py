"""Files that are replaced whole or not at all.

A reader sees the old content or the new one, also after a crash or on a full disk. The new content
is written beside its place first, so a file system must have room for both. Only their owner may
read them, unless they are made to be shared.
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
"""Permissions of a file; the umask takes away from them."""


@contextmanager
def replacing(path: Path, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends without an error."""
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
    """Write all of it to an unbuffered file."""
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]


def sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)


def _draft_of(path: Path) -> Path:
    """A name beside the file that no other process takes, in whatever container it runs."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
