"""A trial of a tuning: its place in the procedure, and what was measured.

A setting is known here by its number, its index in the list of all settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Phase = Literal["search", "fresh"]

LIMITED = "limited"
"""The generator was the limit: the trial counts for nothing, and is no failure of the setting."""
FINAL_FAILURES = frozenset({"wrong_answer"})
"""Failures that a second trial would repeat."""
MOST_FAILURES = 2
"""Failures after which a setting is out."""


@dataclass(frozen=True, slots=True)
class TrialPlace:
    """The place of a trial: `stage` counts the levels of halving, 0 in fresh rounds.

    Rounds count from 1 in each phase. `attempt` is 2 for the repetition of a trial without a value.
    """

    phase: Phase
    stage: int
    round: int
    setting: int
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class TuneTrial:
    """A measured or failed trial.

    `value` is the number of the primary metric; None if `problem` says why there is none: a kind of
    failure, or LIMITED. `excesses` has for each SLO how far the trial was beyond its limit
    (`verdicts/slo_excess.py`). Of costs of a request, None is unknown.
    """

    place: TrialPlace
    value: float | None
    excesses: tuple[float, ...] = ()
    problem: str | None = None
    cpu_us_per_request: float | None = None
    memory_bytes: float | None = None

    @property
    def is_failure(self) -> bool:
        """Whether the setting failed; a trial that the generator limited is no failure."""
        return self.problem is not None and self.problem != LIMITED


@dataclass(frozen=True, slots=True)
class SettingOut:
    """A setting that is out of the tuning, since its trials had no value for this reason."""

    setting: int
    problem: str
