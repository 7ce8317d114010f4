"""The time of a tuning, if its budget is one: which looks there is time for after the search."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torr.tuning.budget import looks_within

if TYPE_CHECKING:
    from collections.abc import Callable

TRIALS_OF_DEFAULT = 2
"""How often the default is started before the search; its body counts if it is always the same."""


@dataclass
class TuningTime:
    """The time that a tuning has taken, of its budget; None for a budget of trials.

    `keep_looks` gets the looks that were chosen. `earlier_s` is the time before it was continued,
    and `trials` counts those of the search, failed or not.
    """

    budget_s: float | None = None
    keep_looks: Callable[[tuple[int, ...]], None] = lambda _looks: None
    clock: Callable[[], float] = time.monotonic
    earlier_s: float = 0.0
    trials: int = 0
    has_fresh_rounds: bool = False
    _began_s: float = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._began_s = self.clock()

    def choose_looks(self, looks: tuple[int, ...], measured: int) -> tuple[int, ...]:
        """Return the looks for which the time suffices, if trials take as long as those before.

        Fresh rounds that have begun keep their looks.
        """
        if self.budget_s is None or not self.trials or self.has_fresh_rounds:
            return looks
        spent_s = self.clock() - self._began_s + self.earlier_s
        mean_s = spent_s / (self.trials + TRIALS_OF_DEFAULT)
        chosen = looks_within(looks, (self.budget_s - spent_s) / mean_s, measured)
        self.keep_looks(chosen)
        return chosen
