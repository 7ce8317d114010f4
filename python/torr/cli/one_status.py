"""A note for a target that answers every request with one status that fails, such as 401.

It is printed once per run, after the first second. The run continues, since its numbers can still
be of use.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from torr.experiments.context import ExperimentListener
from torr.verdicts.failed_status import failed_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.experiments.context import Step
    from torr.messages.say import Language
    from torr.results.level import Interval

# A target may need this long to start answering.
_WINDOW_S = 1.0


@dataclass
class OneStatus(ExperimentListener):
    """Prints the note at the beginning of a run; `clear` removes the progress line.

    `is_of_http` is whether requests are those of HTTP, not messages of WebSocket or calls of gRPC.
    """

    language: Language
    clear: Callable[[], object]
    is_of_http: bool = True
    _seconds: float = 0.0
    _intervals: list[Interval] = field(default_factory=list)
    _is_decided: bool = False

    def interval_came(self, step: Step, piece: Interval) -> None:  # noqa: ARG002
        """Print the note after the first second, or when the first attempts have ended."""
        if self._is_decided:
            return
        self._seconds += piece.seconds
        if piece.statuses or piece.counts.ok or piece.counts.errors:
            self._intervals.append(piece)
        if not self._intervals or self._seconds < _WINDOW_S:
            return
        self._is_decided = True
        status = failed_status(self._intervals)
        if status is not None:
            from torr.report.text.status_note import note

            self.clear()
            click.echo(note(status, is_of_http=self.is_of_http).render(self.language), err=True)
