"""The page's chart of a ladder: its points, findings and limits."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import msgspec

from torr.model.condition import Condition
from torr.report.text.streaming import is_joined
from torr.report.view import ladder_chart

if TYPE_CHECKING:
    from torr.model.json import JsonObject
    from torr.results.result import RunResult
    from torr.results.series import LevelPoint
    from torr.stats.series import Series


def ladder(result: RunResult) -> JsonObject | None:
    """Return the points of a ladder, ascending, with findings and SLOs; None for another kind.

    A point's `claim` is `whole`, or why it claims nothing: `limited`, `cut`, `starved`.
    """
    if result.kind != "ladder" or not result.levels:
        return None
    shown = ladder_chart.ladder(result)
    return {
        "noun": shown.series.noun,
        "points": points(shown.series),
        "findings": [asdict(finding) for finding in shown.findings],
        "slos": slos(result),
        "joined": sorted({x.concurrency for x in result.levels if is_joined(x)}),
    }


def slos(result: RunResult) -> list[JsonObject]:
    """Return the limits that a result was judged by, each once; before that, those asked for."""
    given = map(Condition.parse, result.experiment.slos)
    known = ladder_chart.conditions(result) or tuple(given)
    return [_slo(condition) for condition in known]


def points(series: Series) -> list[JsonObject]:
    """Return every level that there is a number of, with what it claims."""
    kinds = {"limited": series.limited, "cut": series.cut, "starved": series.starved}
    claims = {id(point): kind for kind, found in kinds.items() for point in found}
    return [_point(point, claims.get(id(point), "whole")) for point in series.shown]


def _point(point: LevelPoint, claim: str) -> JsonObject:
    return {**msgspec.structs.asdict(point), "stream": point.stream_values, "claim": claim}


def _slo(condition: Condition) -> JsonObject:
    return {
        "text": condition.text or str(condition),
        "metric": condition.metric,
        "stat": condition.stat,
        "limit": condition.limit,
        "unit": condition.unit,
        "request": condition.name,
    }
