"""What result.json claims: capacity, and the verdicts about it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from torr.model.part import Amount, Count, Part


class Peak(Part):
    """The highest ok/s; `concurrency` is the lowest level of its plateau, the one to run at."""

    concurrency: Count
    ok_per_s: Amount
    plateau: list[Count]
    at_least: bool = Field(default=False, description="client and target shared the machine")


class Knee(Part):
    """The level with the largest ok/s ÷ mean service time."""

    concurrency: Count
    ok_per_s: Amount
    service_ms: Amount
    at_least: bool = False


class SloCapacity(Part):
    """The highest level such that it and every lower one hold every SLO.

    `beyond` is the first level that does not, null when the ladder ended before.
    """

    concurrency: Count
    ok_per_s: Amount
    at_least: bool = False
    conditions: list[str] = []
    beyond: dict[str, Any] | None = None


class Usl(Part):
    """The Universal Scalability Law's parameters, and N* where it can be claimed."""

    lambda_: Amount = Field(alias="lambda")
    sigma: float = Field(ge=0, le=1)
    kappa: Amount
    n_star: float | None = None
    r2: float
    rms: Amount | None = None
    kappa_interval: tuple[float, float] | None = None
    n_star_interval: tuple[float, float] | None = None


class Capacity(Part):
    """What a ladder says; what is null has its reason in `reasons`."""

    peak: Peak | None = None
    knee: Knee | None = None
    slo: SloCapacity | None = None
    usl: Usl | None = None
    reasons: dict[str, str] = {}


class Discarded(Part):
    """What a rule took out of a comparison; `whole` is what the verdict is with it."""

    rule: str
    rounds: list[Count]
    because_of: dict[str, Count] = {}
    whole: dict[str, Any] = {}


class Verdict(Part):
    """One judgement: an SLO at a level (`word`: held, broken, not shown) or a comparison.

    Of a comparison the word is better, worse, same or inconclusive, null for one run each. Its
    intervals are of the ratio, or of the difference in points; an end without a bound is null.
    """

    metric: str
    value: float | None = None
    word: str | None = None
    limit: float | None = None
    concurrency: Count | None = None
    rate: Amount | None = None
    candidate: str | None = None
    baseline: str | None = None
    factors: dict[str, Any] = {}
    request: str | None = Field(default=None, description="the request it is of; null: all of them")
    baseline_value: float | None = None
    ratio: float | None = None
    difference: float | None = Field(default=None, description="of shares, in percentage points")
    interval: tuple[float | None, float | None] | None = Field(
        default=None, description="holds it with a probability of 1 − alpha (95 %); of an SLO, 90 %"
    )
    inner_interval: tuple[float | None, float | None] | None = Field(
        default=None, description="likewise of 1 − 2·alpha (90 %), by which sameness is shown"
    )
    margin: Amount | None = Field(
        default=None, description="differences up to it are the same: of logarithms, or in points"
    )
    n: Count | None = None
    p: float | None = None
    p_adjusted: float | None = Field(default=None, description="by Holm, over the family")
    alpha: float | None = None
    method: str | None = None
    family: str | None = None
    spread: Amount | None = Field(
        default=None, description="standard deviation of the differences: logarithms, or points"
    )
    spreads: list[float | None] | None = Field(
        default=None, description="coefficient of variation of the baseline and of the candidate"
    )
    bounds: list[bool] | None = Field(
        default=None, description="whether the rate of the baseline, of the candidate is a bound"
    )
    trials: list[list[float]] | None = Field(
        default=None, description="every trial of the baseline, and of the candidate"
    )
    obstacle: str | None = Field(
        default=None, description="what forbids any claim, however many rounds there are"
    )
    more_rounds: Count | None = Field(
        default=None, description="that would settle it at this spread, an estimate"
    )
    discarded: Discarded | None = None
    reason: str | None = None
