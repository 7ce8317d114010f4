"""The tuning ledger: the runs of a name in order, each with its changes to earlier runs."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from torr.messages.message import Message
from torr.results.base import Amount, Count, Number, Percent, ResultPart
from torr.results.position import Position
from torr.results.verdict import Ends


class RunChange(ResultPart, kw_only=True):
    """The change of a run to an earlier one, by the metric of its comparison.

    It has a word where both runs have trials, else a reason.
    """

    run: Annotated[Count, Meta(description="the earlier run")]
    metric: str
    ratio: float | None = None
    interval: Ends | None = None
    n: Count | None = None
    p: float | None = None
    bounds: list[bool] | None = None
    word: str | None = None
    reason: Message | None = None
    more_rounds: Count | None = None


class LedgerEntry(ResultPart, kw_only=True):
    """One run at its level: medians of its trials, and its changes.

    `metric` is the metric of its comparison, `value` the median. A run that claims nothing has a
    `reason`.
    """

    run: Count
    setting: Annotated[
        str | UnsetType, Meta(description="of a tuning: whose trials these are; absent otherwise")
    ] = UNSET
    concurrency: Count | None = None
    noun: str = "connection"
    rate: Amount | None = None
    trials: Count = 0
    ok_per_s: Amount | None = None
    metric: str | None = None
    value: Number | None = None
    value_at_least: bool = False
    at_least: bool = False
    p95_ms: Number | None = None
    p95_at_least: bool = False
    success_rate: Percent | None = None
    ok_per_s_range: list[float] | None = None
    p95_ms_range: list[float] | None = None
    reason: Message | None = None
    before: RunChange | None = None
    best: RunChange | None = None
    baseline: RunChange | None = None
    is_best: bool = False
    started: str | None = None
    kind: str | None = None
    git_commit: str | None = None
    note: str | None = None
    tags: list[str] = []
    health: str | None = None


class Ledger(ResultPart, kw_only=True):
    """The runs of a name, oldest first, and their baseline.

    `others` says that there are no entries, but other runs of the name.
    """

    name: str | None = None
    request: str | None = None
    concurrency: Position | None = None
    baseline: LedgerEntry | None = None
    entries: list[LedgerEntry] = []
    others: bool = False
