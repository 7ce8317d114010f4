"""A note for a target that answers every request with one status that fails, such as 401.

It is printed once per run, after the first second. The run continues, since its numbers can still
be of use.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from torr.experiments.context import ExperimentListener

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.experiments.context import Step
    from torr.messages.say import Language
    from torr.results.level import Interval

# A target may need this long to start answering.
_WINDOW_S = 1.0


@dataclass
class OneStatus(ExperimentListener):
    """Prints the note at the beginning of a run; `clear` removes the progress line."""

    language: Language
    clear: Callable[[], object]
    _seconds: float = 0.0
    _statuses: Counter[str] = field(default_factory=Counter)
    _is_decided: bool = False

    def interval_came(self, step: Step, piece: Interval) -> None:  # noqa: ARG002
        """Count the statuses of an interval until the note is printed or is not needed."""
        if self._is_decided:
            return
        self._seconds += piece.seconds
        self._statuses.update(piece.statuses)
        others = {name: n for name, n in piece.counts.errors.items() if name != "status"}
        if piece.counts.ok or others or len(self._statuses) > 1:
            self._is_decided = True
        elif self._statuses and self._seconds >= _WINDOW_S:
            self._is_decided = True
            (status,) = self._statuses
            from torr.report.text.status_note import note

            self.clear()
            click.echo(note(status).render(self.language), err=True)
