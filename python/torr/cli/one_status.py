"""A note where a target answers everything with one status that counts as failed, such as 401.

It is said once a run, after the first second, so that nobody waits for the end of a long one. The
run goes on: what is measured may be wanted all the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from torr.experiments.context import NullListener

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.experiments.context import Step
    from torr.messages.say import Language
    from torr.results.level import Interval

# Until then a target may still be waking up.
_LOOKS_S = 1.0


@dataclass
class OneStatus(NullListener):
    """A listener that looks at the beginning of a run; `clear` takes a moving line away."""

    language: Language
    clear: Callable[[], object]
    _seconds: float = 0.0
    _statuses: Counter[str] = field(default_factory=Counter)
    _is_decided: bool = False

    def interval_came(self, step: Step, piece: Interval) -> None:  # noqa: ARG002
        """Look at an interval, as long as nothing is decided."""
        if self._is_decided:
            return
        self._seconds += piece.seconds
        self._statuses.update(piece.statuses)
        others = {name: n for name, n in piece.counts.errors.items() if name != "status"}
        if piece.counts.ok or others or len(self._statuses) > 1:
            self._is_decided = True
        elif self._statuses and self._seconds >= _LOOKS_S:
            self._is_decided = True
            (status,) = self._statuses
            from torr.report.text.status_note import note

            self.clear()
            click.echo(note(status).render(self.language), err=True)
