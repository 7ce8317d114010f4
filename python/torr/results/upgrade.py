"""The upgrade of results of schema 1, which had other names for some keys.

A table says, for each type, which keys have another name today. `upgraded` follows the types
through JSON values, so that a key is only renamed where the type stands that has it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from torr.results.base import ResultPart
from torr.results.functions import LeakTable
from torr.results.level import (
    ConnectionCounts,
    Health,
    Interval,
    IntervalHealth,
    Latency,
    Level,
    NamedRequest,
)
from torr.results.profile import ProfiledLine
from torr.results.series import LevelPoint
from torr.results.stream import PromptCounts, StreamStatistics
from torr.results.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAN = {"slice_ns": "interval_ns"}
_WORDS = {"failed": "broken", "passed": "held"}
_HISTOGRAMS = {"lag": "scheduling_lag", "wait": "queue_wait"}
_RENAMED: Mapping[type[ResultPart], Mapping[str, str]] = {
    ConnectionCounts: {"asked": "requested"},
    Health: {
        "slices": "intervals",
        "late_slices": "late_intervals",
        "lag_ms": "scheduling_lag_ms",
    },
    IntervalHealth: {"lag_ms": "scheduling_lag_ms", "lag_limit_ms": "scheduling_lag_limit_ms"},
    Latency: {"lag_ms": "scheduling_lag_ms", "wait_ms": "queue_wait_ms"},
    LeakTable: {"looks": "samples", "places": "locations"},
    Level: {"front": "fired_by", "slices": "intervals", "steps": "requests"},
    LevelPoint: {"limited": "generator_limited"},
    ProfiledLine: {"place": "location"},
    PromptCounts: {"given": "provided"},
    StreamStatistics: {"left": "abandoned", "tokens_untold": "tokens_unreported"},
    Verdict: {"text": "condition"},
}


def upgraded(value: Any, kind: type[ResultPart]) -> Any:  # noqa: ANN401 - JSON
    """Return a JSON value of schema 1 with the keys that its type has today.

    Values that do not fit the type stay as they are: decoding them says what is wrong.
    """
    if not isinstance(value, dict):
        return value
    names = _RENAMED.get(kind, {})
    members = {names.get(name, name): member for name, member in value.items()}
    for name, part in _parts_of(kind).items():
        if name in members:
            members[name] = _each(members[name], part)
    if issubclass(kind, Level | Interval | NamedRequest) and isinstance(
        histograms := members.get("histograms"), dict
    ):
        members["histograms"] = {
            _HISTOGRAMS.get(name, name): text for name, text in histograms.items()
        }
    if kind is Level and members.get("monitor") == {}:
        members["monitor"] = None  # where nothing was watched
    if kind is Verdict and members.get("word") in _WORDS:
        members["word"] = _WORDS[members["word"]]
    if kind is LeakTable and members.get("met") is None:
        members["met"] = members.get("word") != "growth that goes on"
    return members


def upgraded_plans(members: dict[str, Any]) -> dict[str, Any]:
    """Return a result whose plans have today's keys: its own, and those of its candidates."""
    experiment = members.get("experiment")
    if experiment is None:
        members.pop("experiment", None)
    candidates = experiment.get("candidates") if isinstance(experiment, dict) else None
    for owner in (members, *(candidates.values() if isinstance(candidates, dict) else ())):
        if isinstance(owner, dict) and isinstance(plan := owner.get("plan"), dict):
            owner["plan"] = {_PLAN.get(key, key): member for key, member in plan.items()}
    return members


def _each(value: Any, kind: type[ResultPart]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [upgraded(each, kind) for each in value]
    return upgraded(value, kind)


@cache
def _parts_of(kind: type[ResultPart]) -> dict[str, type[ResultPart]]:
    """Return the keys of a type that hold one part, or a list of parts."""
    hints = get_type_hints(kind)
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    parts = {key: _part_in(hints[name]) for name, key in names}
    return {key: part for key, part in parts.items() if part is not None}


def _part_in(hint: object) -> type[ResultPart] | None:
    if isinstance(hint, type) and issubclass(hint, ResultPart):
        return hint
    return next((part for each in get_args(hint) if (part := _part_in(each))), None)
