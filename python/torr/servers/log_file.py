"""The end of what a server printed, read from the disk while it is written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_TAIL_BYTES = 32 << 10
_LINE_CHARACTERS = 500


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
