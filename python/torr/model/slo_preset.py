"""Names that stand for several SLOs: `mlperf:llama2-70b:server`.

    [NAME:] mlperf:MODEL:SCENARIO

MLPerf Inference limits the 99th percentiles of the time to the first token and of the time per
output token. A new preset is a value of the table `_MLPERF`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.say import say
from torr.model.condition import Condition

if TYPE_CHECKING:
    from collections.abc import Mapping

# By model and scenario, the limits in milliseconds of ttft p99 and of tpot p99.
_MLPERF: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "llama2-70b": {"server": (2000, 200), "interactive": (450, 40)},
    "llama3.1-405b": {"server": (6000, 175), "interactive": (4500, 80)},
    "llama3.1-8b": {"server": (2000, 100), "interactive": (500, 30)},
    "deepseek-r1": {"server": (2000, 80), "interactive": (1500, 15)},
    "gpt-oss-120b": {"server": (3000, 80), "interactive": (2000, 20)},
    "mixtral": {"server": (2000, 200)},
}
PRESETS: Mapping[str, tuple[str, ...]] = {
    f"mlperf:{model}:{scenario}": (f"ttft p99 <= {ttft}ms", f"tpot p99 <= {tpot}ms")
    for model, scenarios in _MLPERF.items()
    for scenario, (ttft, tpot) in scenarios.items()
}
"""The SLOs of each preset, as a user would write them."""

_PRESET = re.compile(r"(?P<name>(?:.*\S)\s*:\s+)?(?P<preset>mlperf(:\S*)?)")


def read_slos(text: str) -> tuple[Condition, ...]:
    """Return the SLOs that a text stands for: one condition, or those of a preset."""
    match = _PRESET.fullmatch(text.strip())
    if match is None:
        return (Condition.parse(text),)
    preset = match["preset"]
    if preset not in PRESETS:
        raise UsageError(
            say("{preset!r} is not a preset of SLOs", preset=preset),
            say("presets are {presets}", presets=", ".join(PRESETS)),
        )
    return tuple(_condition(f"{match['name'] or ''}{slo}", preset) for slo in PRESETS[preset])


def _condition(text: str, preset: str) -> Condition:
    condition = Condition.parse(text)
    return replace(condition, text=str(condition), preset=preset)
