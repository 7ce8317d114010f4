"""What a server printed: its end is read while it is written, its secrets go when it has ended.

Whoever measures a server must not work on each of its lines meanwhile.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_TAIL_BYTES = 32 << 10
_LINE_CHARACTERS = 500


@contextmanager
def without_secrets(path: Path, covered: Callable[[str], str]) -> Iterator[None]:
    """Cover the secrets of a log behind the block, in which it is written."""
    try:
        yield
    finally:
        with suppress(OSError):
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            saved = covered(text)
            if saved != text:
                replace_bytes(path, saved.encode("utf-8", "surrogateescape"))


def tail(path: Path, lines: int) -> tuple[str, ...]:
    """The last lines of a log, long ones cut; none of what cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            content = file.read()
    except OSError:
        return ()
    found = content.decode("utf-8", "replace").splitlines()[-lines:] if lines else []
    return tuple(
        line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}…" for line in found
    )
