"""Who hears a call's load: the user's `progress`.

Where it raises, the load ends at once, what was measured is kept, and the error goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torr.experiments.lab import Silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.engine import Slice as Piece
    from torr.experiments.interrupt import Interrupt
    from torr.experiments.lab import Step
    from torr.model.result import Slice

    Progress = Callable[[Slice], object]


@dataclass
class Listening(Silent):
    """A listener that calls `progress` with each slice, until that raises."""

    interrupt: Interrupt
    progress: Progress | None = None
    raised: BaseException | None = None
    _read: Callable[[Any], Slice] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Import what slices are made of, before any load goes out."""
        if self.progress is not None:
            from torr.model.result import Slice

            self._read = Slice.model_validate

    def slice_came(self, step: Step, piece: Piece) -> None:
        """Hand a slice to the user."""
        if self.progress is None or self._read is None or self.raised is not None:
            return
        place = {"level": step.index, "concurrency": step.concurrency, "round": step.round}
        try:
            self.progress(self._read({**place, **piece}))
        except BaseException as error:
            self.raised = error
            while not self.interrupt.is_urgent:
                self.interrupt.press()
