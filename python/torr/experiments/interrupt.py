"""What the user asked for by Ctrl-C: once, end and keep everything; twice, end at once and keep it.

Knows nothing of signals: whoever installs a handler calls `press`. Works between levels too: an
experiment asks `requested` before it starts the next one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torr.engine import Load

_LOOK_S = 0.05


@dataclass
class Interrupt:
    """How often it was pressed, and the load that hears it."""

    presses: int = 0
    _load: Load | None = None

    @property
    def requested(self) -> bool:
        """Whether it was pressed at all."""
        return self.presses > 0

    @property
    def is_urgent(self) -> bool:
        """Whether it was pressed more than once."""
        return self.presses > 1

    def press(self) -> None:
        """Ask once more."""
        self.presses += 1
        self._tell()

    def wait(self, seconds: float) -> None:
        """Let the time pass, no longer than until it is pressed."""
        deadline = time.monotonic() + seconds
        while not self.requested and (rest := deadline - time.monotonic()) > 0:
            time.sleep(min(rest, _LOOK_S))

    def attach(self, load: Load) -> None:
        """From now on `load` hears it; a press that came before is told at once."""
        self._load = load
        self._tell()

    def detach(self) -> None:
        """No load is running."""
        self._load = None

    def _tell(self) -> None:
        if self._load is None or not self.presses:
            return
        if self.is_urgent:
            self._load.abort()
        else:
            self._load.stop()
