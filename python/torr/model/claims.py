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


class Verdict(Part):
    """One judgement: an SLO at a level (`word`: held, broken, not shown) or a comparison."""

    metric: str
    value: float | None = None
    word: str | None = None
    limit: float | None = None
    concurrency: Count | None = None
    candidate: str | None = None
    baseline: str | None = None
    factors: dict[str, Any] = {}
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    n: Count | None = None
    p: float | None = None
    method: str | None = None
    family: str | None = None
    reason: str | None = None
