"""The `profiles` of a result, from trials of their own."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from torr.messages.message import Message
from torr.results.base import Amount, Count, Factors, ResultPart

ProfileKind = Literal["cpu", "memory", "lines"]


class ProfiledLine(ResultPart, kw_only=True):
    """A line of source, how often it ran and its total time."""

    location: Annotated[str, Meta(description="file:line")]
    code: str
    hits: Count
    ns: Count


class Profile(ResultPart, kw_only=True):
    """A profile of time or memory, from a trial after the measured ones."""

    kind: ProfileKind = "cpu"
    candidate: Annotated[
        str | None,
        Meta(description="whose it is, where a run has several: a side of a diff, too"),
    ] = None
    factors: Factors = {}
    tool: str
    concurrency: Count
    seconds: Count
    ok_per_s: Annotated[Amount | None, Meta(description="with the profiler beside it")]
    cost_rate: Annotated[
        float | None,
        Meta(description="percent of the ok/s measured there that the profiler took"),
    ] = None
    unit: str | None = None
    folded: Annotated[str | None, Meta(description="`root;caller;leaf 42`, a stack a line")] = None
    lines: Annotated[list[ProfiledLine], Meta(description="of kind lines")] = []
    failure: Message | None = None
    hint: Message | None = None
    note: Annotated[
        Message | None, Meta(description="what became of the target: it ended in mid-profile, say")
    ] = None
