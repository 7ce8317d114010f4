"""The `profiles` of result.json: where time or memory went, in trials of their own."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from torr.model.part import Amount, Count, Part


class ProfiledLine(Part):
    """A line of source, how often it ran and how long that took in all."""

    place: str = Field(description="file:line")
    code: str
    hits: Count
    ns: Count


class Profile(Part):
    """Where time or memory went, in a trial behind those that were measured."""

    kind: Literal["cpu", "memory", "lines"] = "cpu"
    candidate: str | None = Field(
        default=None, description="whose it is, where a run has several: a side of a diff, too"
    )
    factors: dict[str, Any] = {}
    tool: str
    concurrency: Count
    seconds: Count
    ok_per_s: Amount | None = Field(description="with the profiler beside it")
    cost_rate: float | None = Field(
        default=None, description="percent of the ok/s measured there that the profiler took"
    )
    unit: str | None = None
    folded: str | None = Field(default=None, description="`root;caller;leaf 42`, a stack a line")
    lines: list[ProfiledLine] = Field(default=[], description="of kind lines")
    failure: str | None = None
    hint: str | None = None
    note: str | None = Field(
        default=None, description="what became of the target: it ended in mid-profile, say"
    )
