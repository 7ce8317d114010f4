"""SLOs where candidates are compared: each is judged for every candidate in every cell.

A candidate is no round of another, and a cell no level of a ladder: nothing is pooled but rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.stats import capacity
from torr.stats.trials import by_cell, candidates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition

Level = dict[str, Any]


def slo_verdicts(levels: Sequence[Level], slos: Sequence[Condition]) -> list[dict[str, Any]]:
    """Return result.json's `verdicts` of SLOs: one for each cell, candidate and SLO."""
    found: list[dict[str, Any]] = []
    for cell, rounds in by_cell(levels).items():
        for name in candidates(levels):
            own: list[Level] = [dict(trials[name]) for trials in rounds.values() if name in trials]
            whose = {"candidate": name, "factors": cell.factors}
            found += [{**verdict, **whose} for verdict in capacity.verdicts(own, slos)]
    return found
