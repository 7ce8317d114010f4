"""A trial of a tuning: its place in the procedure, and what was measured.

A setting is known here by its number, its index in the list of all settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torr.messages.message import Message
    from torr.results.tuning import TrialPlace
    from torr.verdicts.slo_evidence import SloEvidence

LIMITED = "limited"
NO_NUMBER = "no_number"
_NO_FAILURES = (LIMITED, NO_NUMBER)
"""The generator was the limit: the trial counts for nothing, and is no failure of the setting."""
MOST_FAILURES = 2
"""Failures after which a setting is out."""


@dataclass(frozen=True, slots=True)
class TuneTrial:
    """A measured or failed trial.

    `value` is the number of the primary metric; None if `problem` says why there is none: a kind of
    failure, or LIMITED. `slos` has what the trial shows of each SLO. `failed` and `ended` count its
    requests. Of costs, None is unknown.
    """

    place: TrialPlace
    value: float | None
    slos: tuple[SloEvidence, ...] = ()
    problem: str | None = None
    why: Message | None = None
    failed: int = 0
    ended: int = 0
    cpu_us_per_request: float | None = None
    memory_bytes: float | None = None

    @property
    def is_failure(self) -> bool:
        """Whether the setting failed.

        A trial that the generator limited is no failure, nor is one with too few responses.
        """
        return self.problem is not None and self.problem not in _NO_FAILURES
