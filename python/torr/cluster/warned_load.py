"""A load whose level gets warnings of its cluster."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.results.base import builtins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.engine import Load
    from torr.messages.message import Message


@dataclass(frozen=True, slots=True)
class WarnedLoad:
    """A running load, and warnings that are added to those of its level."""

    load: Load
    warnings: Sequence[Message]

    def next_interval(self, timeout_s: float) -> str | None:
        """Return the text of the next interval; None on timeout and at the end of the load."""
        return self.load.next_interval(timeout_s)

    def done(self) -> bool:
        """Return whether all intervals were returned."""
        return self.load.done()

    def stop(self) -> None:
        """End the window now, and wait for open requests."""
        self.load.stop()

    def abort(self) -> None:
        """End the load at once."""
        self.load.abort()

    def level(self) -> str:
        """Return the text of the level, when the load has ended."""
        level = json.loads(self.load.level())
        level["warnings"] += builtins(list(self.warnings))
        return json.dumps(level)
