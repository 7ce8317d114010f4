"""The page's chart of a search: each setting's first number, by level of halving and by parameter.

Each setting is a dot. These numbers are no claims.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torr.messages.say import as_json, say
from torr.model.settings import is_one_of
from torr.report.data.axis import padded
from torr.report.data.result_words import word_text
from torr.report.data.tuning import Tuning
from torr.report.text import comparison_words as words
from torr.units import show_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.model.json import JsonObject
    from torr.model.settings import TunedParameter
    from torr.report.data.tuning import SearchedSetting
    from torr.results.result import RunResult

_TICKS = 5


def search(result: RunResult) -> JsonObject | None:
    """Return the dots, and groups of rows of their indexes; None where nothing was measured."""
    if result.kind != "tune":
        return None
    tuning = Tuning.of(result)
    seen = [setting for setting in tuning.searched if setting.first is not None]
    if not seen:
        return None
    limits = _limits([setting.first or 0.0 for setting in seen])
    return {
        "metric": as_json(word_text(tuning.metric.label)),
        "limits": limits,
        "marks": [(at, words.value(tuning.metric, at)) for at in _ticks(*limits)],
        "dots": [_dot(setting, tuning) for setting in seen],
        "groups": [_stages(seen, tuning), *(_parameter(each, seen) for each in tuning.parameters)],
    }


def _dot(setting: SearchedSetting, tuning: Tuning) -> JsonObject:
    outcome = tuning.outcome
    value = words.value(tuning.metric, setting.first)
    return {
        "at": setting.first,
        "text": as_json(
            say(
                "{setting}: {value} {metric}",
                setting=setting.name,
                value=value,
                metric=word_text(tuning.metric.label),
            )
        ),
        "is_finalist": setting.setting in outcome.finalists,
        "is_recommended": setting.setting == outcome.recommended,
    }


def _stages(seen: list[SearchedSetting], tuning: Tuning) -> JsonObject:
    """Return a row for the finalists, and one for each level of halving, the last one first."""
    finalists = tuning.outcome.finalists
    ends = [0 if setting.setting in finalists else setting.stage for setting in seen]
    rows = [(say("until step {n}", n=stage), stage) for stage in sorted({*ends} - {0})[::-1]]
    rows.insert(0, (say("finalists"), 0))
    return _group(say("how far settings came"), rows, ends)


def _parameter(parameter: TunedParameter, seen: list[SearchedSetting]) -> JsonObject:
    """Return a row for each value of a parameter, and one for settings without it."""
    rows = [(show_value(value), place) for place, value in enumerate(parameter.values)]
    rows.append((say("none"), len(rows)))
    return _group(parameter.name, rows, [_place(parameter, setting) for setting in seen])


def _place(parameter: TunedParameter, setting: SearchedSetting) -> int:
    """Return the index of a setting's value; the number of values where it has none."""
    own = setting.values.get(parameter.name)
    places = (n for n, value in enumerate(parameter.values) if is_one_of(value, (own,)))
    return next(places, len(parameter.values))


def _group(title: str, rows: Sequence[tuple[str, int]], places: list[int]) -> JsonObject:
    """Return the rows that have a dot; `places` has the row of each dot."""
    filled = [
        {"name": as_json(name), "dots": [at for at, place in enumerate(places) if place == row]}
        for name, row in rows
    ]
    return {"words": as_json(title), "rows": [row for row in filled if row["dots"]]}


def _limits(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    if low == high:
        return 0.9 * low, 1.1 * high or 1.0
    return padded(low, high)


def _ticks(low: float, high: float) -> Iterator[float]:
    """Yield round numbers between the ends of the axis."""
    step = 10 ** math.floor(math.log10((high - low) / _TICKS))
    step *= next(n for n in (1, 2, 5, 10) if (high - low) / (n * step) <= _TICKS)
    at = math.ceil(low / step)
    while at * step <= high:
        yield at * step
        at += 1
