"""The end of a load: how its levels are judged, and whether it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.finishing.pipeline import EndedRun
from torr.verdicts.conclusions import of_load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.context import Outcome
    from torr.model.condition import Condition
    from torr.results.result import Conclusions
    from torr.store.rundir import RunDirectory


def ended(
    outcome: Outcome,
    directory: RunDirectory,
    slos: Sequence[Condition] = (),
    *,
    is_drawn: bool = True,
) -> EndedRun:
    """Return a run whose load is over; one that is urgent or without an answer is not drawn."""

    def conclude() -> Conclusions:
        aborted = None if outcome.aborted is None else str(outcome.aborted)
        return of_load(directory.head["kind"], directory.full_levels(), slos, aborted)

    worth = bool(outcome.levels) and not outcome.is_urgent and outcome.status != "failed"
    return EndedRun(directory, conclude, outcome.status, is_drawn=is_drawn and worth)
