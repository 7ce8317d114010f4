"""The verdicts of a result: SLOs, limits of change, budgets of functions, comparisons."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from torr.messages.message import Message
from torr.results.base import Amount, Count, Factors, ResultPart
from torr.results.position import Position, position_of

Ends = tuple[float | None, float | None]
ConditionWord = Literal["held", "broken", "not shown"]
"""Words of conditions: an SLO at a level, a limit of change, a budget of a function."""
ComparisonWord = Literal["better", "worse", "same", "inconclusive"]
VerdictWord = Literal["held", "broken", "not shown", "better", "worse", "same", "inconclusive"]
LeakWord = Literal["no growth", "growth that ends", "growth that goes on"]


class ComparisonOutcome(ResultPart, kw_only=True):
    """The outcome of a comparison over some of its rounds."""

    value: float | None = None
    baseline_value: float | None = None
    ratio: float | None = None
    difference: Annotated[float | None, Meta(description="of shares, in percentage points")] = None
    interval: Annotated[
        Ends | None,
        Meta(description="holds it with a probability of 1 − alpha (95 %); of an SLO, 90 %"),
    ] = None
    inner_interval: Annotated[
        Ends | None,
        Meta(description="likewise of 1 − 2·alpha (90 %), by which sameness is shown"),
    ] = None
    n: Count | None = None
    p: float | None = None
    p_adjusted: Annotated[float | None, Meta(description="by Holm, over the family")] = None
    word: VerdictWord | None = None
    reason: Message | None = None
    obstacle: Annotated[
        Message | None, Meta(description="what forbids any claim, however many rounds there are")
    ] = None


class DiscardedRounds(ResultPart, kw_only=True):
    """The rounds that a rule discarded; `whole` is the outcome with them."""

    rule: str
    rounds: list[Count]
    because_of: dict[str, Count] = {}
    whole: ComparisonOutcome = msgspec.field(default_factory=ComparisonOutcome)


class Verdict(ComparisonOutcome, kw_only=True):
    """One judgement: of a condition (`word`: held, broken, not shown) or a comparison.

    Conditions are SLOs at a level, limits of change, whose values are in percent of the baseline or
    in points, and budgets of functions. Of a comparison the word is better, worse, same or
    inconclusive, null for one run each; its intervals are of the ratio, or of the difference in
    points. An end of an interval without a bound is null.
    """

    metric: str
    condition: Annotated[str | None, Meta(description="as it was written")] = None
    op: str | None = None
    unit: str | None = None
    limit: float | None = None
    scaled_by: Annotated[Amount | None, Meta(description="of a budget: the machine's speed")] = None
    concurrency: Count | None = None
    rate: Amount | None = None
    candidate: str | None = None
    baseline: str | None = None
    factors: Factors = {}
    request: Annotated[str | None, Meta(description="the request it is of; null: all of them")] = (
        None
    )
    margin: Annotated[
        Amount | None,
        Meta(description="differences up to it are the same: of logarithms, or in points"),
    ] = None
    alpha: float | None = None
    method: str | None = None
    family: str | None = None
    spread: Annotated[
        Amount | None,
        Meta(description="standard deviation of the differences: logarithms, or points"),
    ] = None
    spreads: Annotated[
        list[float | None] | None,
        Meta(description="coefficient of variation of the baseline and of the candidate"),
    ] = None
    bounds: Annotated[
        list[bool] | None,
        Meta(description="whether the rate of the baseline, of the candidate is a bound"),
    ] = None
    trials: Annotated[
        list[list[float]] | None,
        Meta(description="every trial of the baseline, and of the candidate"),
    ] = None
    more_rounds: Annotated[
        Count | None, Meta(description="that would settle it at this spread, an estimate")
    ] = None
    discarded: DiscardedRounds | None = None

    @property
    def position(self) -> Position:
        """The position of its level; 0 if it is of none."""
        return position_of(self.concurrency, self.rate)

    @property
    def with_discarded(self) -> Verdict:
        """The verdict with the discarded rounds."""
        if self.discarded is None:
            return self
        whole = msgspec.structs.asdict(self.discarded.whole)
        return msgspec.structs.replace(self, **whole, bounds=None, discarded=None)
