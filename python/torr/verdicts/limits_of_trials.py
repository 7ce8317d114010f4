"""SLOs where candidates are compared: each is judged for every candidate in every cell.

A candidate is no round of another, and a cell no level of a ladder: nothing is pooled but rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from torr.stats.trials import by_cell, candidates
from torr.verdicts import capacity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition
    from torr.results.level import Level
    from torr.results.verdict import Verdict


def slo_verdicts(levels: Sequence[Level], slos: Sequence[Condition]) -> list[Verdict]:
    """Return the verdicts of SLOs: one for each cell, candidate and SLO."""
    return [
        replace(verdict, candidate=name, factors=cell.factors)
        for cell, rounds in by_cell(levels).items()
        for name in candidates(levels)
        for verdict in capacity.verdicts(
            [trials[name] for trials in rounds.values() if name in trials], slos
        )
    ]
