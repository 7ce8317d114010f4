"""The `capacity` of a ladder."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from torr.messages.message import Message
from torr.results.base import Amount, Count, ResultPart
from torr.results.position import OF_ARRIVALS, Position, position_of
from torr.results.verdict import Verdict


class Peak(ResultPart, kw_only=True):
    """The highest ok/s; `concurrency` or `rate` is the lowest level of its plateau, to run at.

    `highest_at` is the level at which the highest was measured; on a flat plateau that is chance.
    """

    concurrency: Count
    ok_per_s: Amount
    plateau: list[Position]
    at_least: Annotated[bool, Meta(description="client and target shared the machine")] = False
    highest_at: Position | None = None
    ok_per_s_there: Annotated[Amount | None, Meta(description="at `concurrency`")] = None
    rate: Annotated[Amount | UnsetType, Meta(description=OF_ARRIVALS)] = UNSET

    @property
    def position(self) -> Position:
        """The position among levels."""
        return position_of(self.concurrency, self.rate)


class Knee(ResultPart, kw_only=True):
    """The level with the largest ok/s ÷ mean service time."""

    concurrency: Count
    ok_per_s: Amount
    service_ms: Amount
    at_least: bool = False

    @property
    def position(self) -> Position:
        """The position among levels."""
        return position_of(self.concurrency)


class SloCapacity(ResultPart, kw_only=True):
    """The highest level such that it and every lower one hold every SLO.

    The lowest levels with too few responses to show the SLOs are skipped. `beyond` is the first
    verdict above it that is not held, null when the ladder ended before.
    """

    concurrency: Count
    ok_per_s: Amount
    at_least: bool = False
    conditions: list[str] = []
    beyond: Verdict | None = None
    rate: Annotated[Amount | UnsetType, Meta(description=OF_ARRIVALS)] = UNSET

    @property
    def position(self) -> Position:
        """The position among levels."""
        return position_of(self.concurrency, self.rate)


class UslFit(ResultPart, kw_only=True):
    """The Universal Scalability Law's parameters, and N* where it can be claimed."""

    lambda_: Amount = field(name="lambda")
    sigma: Annotated[float, Meta(ge=0, le=1)]
    kappa: Amount
    n_star: float | None = None
    r2: float
    rms: Amount | None = None
    kappa_interval: tuple[float, float] | None = None
    n_star_interval: tuple[float, float] | None = None
    levels: Annotated[list[Count], Meta(description="that it was fitted to")] = []


class Capacity(ResultPart, kw_only=True):
    """The capacity of a ladder; `reasons` has the reason of each member that is null."""

    peak: Peak | None = None
    knee: Knee | None = None
    slo: SloCapacity | None = None
    usl: UslFit | None = None
    reasons: dict[str, Message] = {}
