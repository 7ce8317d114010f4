"""Read the end of a server's log, and redact the log after the server ended.

Lines are not redacted while the server runs, since that would disturb the measurement.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from torr.model.secrets import redacted_bytes
from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_TAIL_BYTES = 32 << 10
_LINE_CHARACTERS = 500


@contextmanager
def redacted_on_exit(path: Path, redact: Callable[[str], str]) -> Iterator[None]:
    """Redact a log when the block, in which it is written, ends."""
    try:
        yield
    finally:
        with suppress(OSError):
            log = path.read_bytes()
            redacted = redacted_bytes(log, redact)
            if redacted != log:
                replace_bytes(path, redacted)


def tail(path: Path, lines: int) -> tuple[str, ...]:
    """Return the last lines of a log, long ones cut; none if it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            content = file.read()
    except OSError:
        return ()
    last = content.decode("utf-8", "replace").splitlines()[-lines:] if lines else []
    return tuple(
        line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}…" for line in last
    )
