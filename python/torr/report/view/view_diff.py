"""The page's chart of a diff: both sides, and the change at each common level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.report.data import diff as sides_of
from torr.report.view import view_ladder
from torr.verdicts.judgement import DELTA

if TYPE_CHECKING:
    from torr.model.json import JsonObject
    from torr.results.result import RunResult


_KEYS = (
    *("metric", "concurrency", "baseline_value", "value", "ratio", "difference", "interval", "n"),
    "word",
)


def diff(result: RunResult) -> JsonObject | None:
    """Return both sides' points and the change at each common level; None for another kind."""
    if result.kind != "diff":
        return None
    sides = sides_of.sides(result)
    return {
        "noun": "user" if any(side.noun == "user" for side in sides) else "connection",
        "margin": [1 / (1 + DELTA), 1 + DELTA],
        "sides": [{"name": s.name, "points": view_ladder.points(s)} for s in sides],
        "changes": [{key: getattr(verdict, key) for key in _KEYS} for verdict in result.verdicts],
    }
