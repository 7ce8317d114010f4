"""Files of /proc and /sys, each read as a whole.

A file that cannot be read is empty: a process may end, and a kernel may lack a file, at any time.
"""

from __future__ import annotations

import os

Root = str | os.PathLike[str]


def read(path: str) -> bytes:
    """Return what a file contains; nothing where it does not exist or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    # A quarter of what a file object costs, and the monitor reads hundreds of files a second.
    try:
        pieces = []
        while piece := os.read(descriptor, 1 << 16):
            pieces.append(piece)
        return b"".join(pieces)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def text(path: str) -> str:
    """Return what a file contains, without the white space around it."""
    return read(path).decode(errors="replace").strip()


def numbers(path: str) -> list[int]:
    """Return the whole numbers in a file, in their order."""
    return [int(word) for word in read(path).split() if word.lstrip(b"-").isdigit()]


def field(path: str, name: str) -> str | None:
    """Return what follows the first `NAME:` of a file; None where the file has no such line."""
    for line in text(path).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None


def field_bytes(path: str, name: str) -> int | None:
    """Return a field in kB as a number of bytes; None where the file has no such line."""
    size = (field(path, name) or "").removesuffix("kB").strip()
    return int(size) * 1024 if size.isdigit() else None


def numbered(folder: str) -> list[int]:
    """Return the entries of a folder whose names are numbers."""
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:
        return []
