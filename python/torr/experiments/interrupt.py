"""The interrupt of an experiment: pressed once, the load ends normally; twice, immediately.

Signal handlers call `press`. An experiment checks `requested` before each level.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.engine import Load

_POLL_S = 0.05


@dataclass
class Interrupt:
    """The number of presses, and the load that they end."""

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
        """Request the end; a second press requests it immediately."""
        self.presses += 1
        self._forward()

    def wait(self, seconds: float) -> None:
        """Wait for a time, or until the interrupt is pressed."""
        deadline = time.monotonic() + seconds
        while not self.requested and (rest := deadline - time.monotonic()) > 0:
            time.sleep(min(rest, _POLL_S))

    @contextmanager
    def ending(self, load: Load) -> Iterator[None]:
        """Pass presses on to a load within the block, also earlier ones; abort it on an error."""
        self._load = load
        self._forward()
        try:
            yield
        except BaseException:
            load.abort()
            raise
        finally:
            self._load = None

    def _forward(self) -> None:
        load = self._load  # another thread may set it to None
        if load is None or not self.presses:
            return
        if self.is_urgent:
            load.abort()
        else:
            load.stop()
