"""Reserve a port and a folder for temporary files for the server of one trial.

TMPDIR is private, since some servers kill processes whose pid files they find in a shared one. It
is removed with its contents.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import OutputError
from torr.messages.say import say
from torr.servers.ports import reserved_port

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class ServerReservation:
    """A port and a folder that only this server uses."""

    port: int
    scratch: Path

    @property
    def values(self) -> dict[str, object]:
        """Return the values of {port} and {scratch}."""
        return {"port": self.port, "scratch": self.scratch}


@contextmanager
def reserve() -> Iterator[ServerReservation]:
    """Reserve a port and a folder for one server; raise NothingMeasuredError if no port is free."""
    with reserved_port() as port:
        with scratch_errors(tempfile.gettempdir()):
            scratch = Path(tempfile.mkdtemp(prefix="torr-"))
        try:
            yield ServerReservation(port, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def scratch_errors(path: Path | str) -> Iterator[None]:
    """Convert an OSError about torr's own temporary files to an OutputError."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            say("{path}: cannot be written: {error}", path=path, error=error.strerror or error),
            say("free disk space, or set TMPDIR to another folder"),
        ) from error
