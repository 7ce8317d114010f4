"""Who hears a call's load: the user's `progress`.

Where it raises, the load ends at once, what was measured is kept, and the error goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from torr.experiments.context import NullListener

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.experiments.context import Step
    from torr.experiments.interrupt import Interrupt
    from torr.results.level import Interval

    Progress = Callable[[Interval], object]


@dataclass
class Listening(NullListener):
    """A listener that calls `progress` with each interval, until that raises."""

    interrupt: Interrupt
    progress: Progress | None = None
    raised: BaseException | None = None

    def interval_came(self, step: Step, piece: Interval) -> None:
        """Hand an interval to the user."""
        if self.progress is None or self.raised is not None:
            return
        place = {"level": step.index, "concurrency": step.concurrency, "round": step.round}
        try:
            self.progress(msgspec.structs.replace(piece, **place))
        except BaseException as error:
            self.raised = error
            while not self.interrupt.is_urgent:
                self.interrupt.press()
