"""The bars: what a figure must meet, and whether the rounds meet it. Pure: numbers in, words out.

A ratio is taken round by round, since machines drift, and judged by its median; lowest and highest
stand beside it.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

# What sending and receiving a small response costs anybody: a bar below it could hardly be met.
OVER_BARE = 1.15


@dataclass(frozen=True)
class Bar:
    """What the ratio of two tools' processor time per request must be."""

    over: str
    under: str
    limit: float
    sense: Literal["≤", "≥"] = "≤"
    bare_rules: bool = False
    key: Literal["cpu_us", "per_s"] = "cpu_us"

    @property
    def name(self) -> str:
        """The ratio in words."""
        rate = ", rate" if self.key == "per_s" else ""
        return f"{self.over} ÷ {self.under}{rate}"


@dataclass(frozen=True)
class Limit:
    """What a figure may be at most, or must be at least."""

    value: float
    unit: str = "×"
    sense: Literal["≤", "≥"] = "≤"

    def holds(self, value: float) -> bool:
        """Whether a figure meets it."""
        return value <= self.value if self.sense == "≤" else value >= self.value


@dataclass(frozen=True)
class Judged:
    """A figure, its spread over the rounds, its bar, and whether it holds."""

    name: str
    value: float
    low: float
    high: float
    rounds: int
    unit: str
    sense: str
    limit: float
    held: bool
    missed_by: float | None
    note: str = ""

    def kept(self) -> dict[str, Any]:
        """Return it as a run keeps it."""
        return asdict(self)


def judge(name: str, values: Sequence[float], limit: Limit, note: str = "") -> Judged:
    """Judge the median of some rounds; a bar missed is missed by a share of itself."""
    value = statistics.median(values)
    held = limit.holds(value)
    return Judged(
        name=name,
        value=value,
        low=min(values),
        high=max(values),
        rounds=len(values),
        unit=limit.unit,
        sense=limit.sense,
        limit=limit.value,
        held=held,
        missed_by=None if held else abs(value - limit.value) / limit.value,
        note=note,
    )


def ratios(
    shots: Sequence[dict[str, Any]], over: str, under: str, key: str = "cpu_us"
) -> list[float]:
    """Return the ratio of two tools in each round that has both: of processor time per request."""
    costs = {(shot["round"], shot["tool"]): float(shot[key]) for shot in shots}
    numbers = sorted({number for number, _ in costs})
    return [
        costs[number, over] / costs[number, under]
        for number in numbers
        if (number, over) in costs and (number, under) in costs
    ]


def judge_ratio(bar: Bar, shots: Sequence[dict[str, Any]]) -> Judged | None:
    """Judge a ratio; None where one of the two did not take part."""
    values = ratios(shots, bar.over, bar.under, bar.key)
    if not values:
        return None
    limit, note = bar.limit, _failures(bar, shots)
    bare = ratios(shots, "bare", bar.under) if bar.bare_rules else []
    if bare and OVER_BARE * statistics.median(bare) > limit:
        limit = OVER_BARE * statistics.median(bare)
        rules = f"{OVER_BARE} × the bare loop is above {bar.limit:g}, and rules"
        note = f"{rules}; {note}" if note else rules
    return judge(bar.name, values, Limit(limit, "×", bar.sense), note)


def _failures(bar: Bar, shots: Sequence[dict[str, Any]]) -> str:
    """A failed request is a cheap one: where there are any, the ratio says so."""
    failed = {
        tool: sum(int(shot["failed"]) for shot in shots if shot["tool"] == tool)
        for tool in (bar.over, bar.under)
    }
    return ", ".join(f"{tool}: {count:,} failed" for tool, count in failed.items() if count)
