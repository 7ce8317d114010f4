"""The fresh rounds of a tuning as a comparison of its finalists with the default.

What draws and tabulates comparisons can so present them, too. Settings are named by their places:
their values may be longer than any picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from torr.report.data.tuning import Tuning
from torr.results.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


def as_comparison(result: RunResult) -> RunResult:
    """Return a result of the kind compare, whose candidates are settings."""
    tuning = Tuning.of(result)
    default = tuning.place(tuning.default)
    places = {row.setting: place for place, row in enumerate(tuning.rows)}
    # Candidates are in the order of their first trial.
    fresh = sorted(_fresh(result, tuning), key=lambda pair: places[pair[0]])
    levels = [level for _, level in fresh]
    return replace(
        result,
        kind="compare",
        tuning=UNSET,
        levels=levels,
        failures=[],
        experiment=Experiment(baseline=default, primary=tuning.metric.key),
        verdicts=list(_claims(tuning, default, levels)),
    )


def _fresh(result: RunResult, tuning: Tuning) -> Iterator[tuple[int, Level]]:
    """Yield the trials of fresh rounds that count, with their settings."""
    shown = {row.setting for row in tuning.rows}
    for level in result.levels:
        place = level.place
        if place is UNSET or place.phase != "fresh" or place.setting not in shown:
            continue
        if not level.is_limited and place.round <= tuning.outcome.rounds:
            named = replace(level, candidate=tuning.place(place.setting), factors={})
            yield place.setting, named


def _claims(tuning: Tuning, default: str, levels: list[Level]) -> Iterator[Verdict]:
    if not levels:
        return
    load = {"concurrency": levels[0].concurrency, "rate": levels[0].rate}
    for row in tuning.rows:
        claim = row.against_default
        if claim is not None:
            name = tuning.place(row.setting)
            yield replace(claim, candidate=name, baseline=default, factors={}, **load)
