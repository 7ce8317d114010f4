"""Where one trial's server lives: a port and a folder for its temporary files, both its own.

A private TMPDIR, since some servers kill the processes that they find named in a shared one. It
is removed with all that is in it.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torr.servers.ports import claimed

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class ServerReservation:
    """A port and a folder that nobody else uses as long as the server lives."""

    port: int
    scratch: Path

    @property
    def values(self) -> dict[str, object]:
        """What fills {port} and {scratch}."""
        return {"port": self.port, "scratch": self.scratch}


@contextmanager
def place() -> Iterator[ServerReservation]:
    """A place for one server; raises NothingMeasuredError when no port is free."""
    with claimed() as port:
        scratch = Path(tempfile.mkdtemp(prefix="torr-"))
        try:
            yield ServerReservation(port, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
