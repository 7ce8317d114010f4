"""The `micro`, `budgets` and `leaks` of result.json: functions measured in one process."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from torr.model.part import Amount, Count, Part


class Timing(Part):
    """How operations of a function were timed, in one round of it."""

    batch: int = Field(ge=1, description="operations that shared a look at the clock")
    clock_ns: Amount = Field(description="a look at the clock, taken off every time")
    turn_ns: Amount = Field(description="a turn of the loop, taken off each operation of a batch")
    gc: str
    threads: int = Field(ge=1)


class Budget(Part):
    """A budget of a function, judged by its rounds."""

    candidate: str
    factors: dict[str, Any] = {}
    metric: str
    text: str
    limit: float
    scaled_by: Amount | None = Field(default=None, description="the machine's speed")
    value: float | None
    interval: tuple[float, float] | None = Field(description="of 90 %")
    n: Count
    word: Literal["held", "broken", "not shown"]
    reason: str | None = None


class LeftBehind(Part):
    """What operations of a function left behind."""

    candidate: str
    factors: dict[str, Any] = {}
    count: Count = Field(description="operations")
    looks: list[dict[str, int]] = Field(description="before the first and after each stretch")
    types: list[tuple[str, int]] = Field(description="objects more, by type")
    places: list[tuple[str, int]] = Field(description="bytes more, by the line that allocated them")
    growth: int = Field(description="objects more at the end")
    per_operation: float = Field(description="blocks of memory an operation of the second half")
    traced_per_operation: float | None = Field(
        default=None, description="bytes that Python allocated, an operation of the second half"
    )
    rss_per_operation: float | None = Field(
        default=None, description="bytes of the process, an operation of the second half"
    )
    word: Literal["no growth", "growth that ends", "growth that goes on"]
    limit: int | None = Field(default=None, description="objects more that there may be")
    met: bool | None = Field(default=None, description="without a limit: that no growth goes on")
