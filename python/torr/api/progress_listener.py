"""Pass the intervals of a load to the user's `progress` function.

If it raises, the load ends at once, the measurements are stored, and the exception is raised again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from torr.experiments.context import ExperimentListener

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.experiments.context import Step
    from torr.experiments.interrupt import Interrupt
    from torr.results.level import Interval

    Progress = Callable[[Interval], object]


@dataclass
class ProgressListener(ExperimentListener):
    """A listener that calls `progress` with each interval until it raises."""

    interrupt: Interrupt
    progress: Progress | None = None
    raised: BaseException | None = None

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Call `progress` with an interval."""
        if self.progress is None or self.raised is not None:
            return
        position = {"level": step.index, "concurrency": step.concurrency, "round": step.round}
        try:
            self.progress(msgspec.structs.replace(piece, **position))
        except BaseException as error:
            self.raised = error
            while not self.interrupt.is_urgent:
                self.interrupt.press()
