"""The `micro`, `budgets` and `leaks` of a result: functions measured in one process."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from torr.results.base import Amount, Count, Factors, ResultPart
from torr.results.verdict import LeakWord

PositiveCount = Annotated[int, Meta(ge=1)]


class MachineSpeed(ResultPart):
    """The speed of a machine in Python as a multiple of the reference, with its range."""

    median: Amount
    least: Amount
    most: Amount


class FunctionTiming(ResultPart, kw_only=True):
    """How operations of a function were timed, in one round of it."""

    batch: Annotated[PositiveCount, Meta(description="operations that shared a look at the clock")]
    clock_ns: Annotated[Amount, Meta(description="a look at the clock, taken off every time")]
    turn_ns: Annotated[
        Amount, Meta(description="a turn of the loop, taken off each operation of a batch")
    ]
    gc: str
    threads: PositiveCount


class MemorySample(ResultPart, kw_only=True):
    """Memory of a process at one moment: tracked objects, blocks, bytes."""

    objects: Count = 0
    blocks: Count = 0
    traced_bytes: Count = 0
    rss_bytes: Count = 0


class LeakTable(ResultPart, kw_only=True):
    """Memory that operations of a function allocated and did not free."""

    candidate: str
    factors: Factors = {}
    count: Annotated[Count, Meta(description="operations")]
    samples: Annotated[
        list[MemorySample], Meta(description="before the first and after each stretch")
    ]
    types: Annotated[list[tuple[str, int]], Meta(description="objects more, by type")]
    locations: Annotated[
        list[tuple[str, int]],
        Meta(description="bytes more, by the line that allocated them"),
    ]
    growth: Annotated[int, Meta(description="objects more at the end")]
    per_operation: Annotated[
        float, Meta(description="blocks of memory an operation of the second half")
    ]
    traced_per_operation: Annotated[
        float | None,
        Meta(description="bytes that Python allocated, an operation of the second half"),
    ] = None
    rss_per_operation: Annotated[
        float | None, Meta(description="bytes of the process, an operation of the second half")
    ] = None
    word: LeakWord
    limit: Annotated[int | None, Meta(description="objects more that there may be")] = None
    met: Annotated[bool, Meta(description="without a limit: that no growth goes on")]
