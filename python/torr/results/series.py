"""The `series` of a diff: both sides, one point for each level of concurrency."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from torr.messages.message import Message
from torr.results.base import Amount, Count, Number, Percent, ResultPart
from torr.results.position import OF_ARRIVALS, Position, position_of


class LevelPoint(ResultPart):
    """One level of concurrency: the median over `rounds` of each number.

    The ranges are the extremes over the rounds, or over the intervals of a single one.
    """

    concurrency: Count
    ok_per_s: Amount
    service_ms: Annotated[Number | None, Meta(description="the mean service time")]
    success_rate: Percent | None
    p95_ms: Annotated[Number | None, Meta(description="of the response times")] = None
    rounds: Count = 1
    at_least: Annotated[bool, Meta(description="client and target shared the machine")] = False
    generator_limited: bool = False
    interrupted: bool = False
    reasons: tuple[Message, ...] = ()
    ok_per_s_range: tuple[Amount, Amount] | None = None
    p95_ms_range: tuple[Number, Number] | None = None
    p95_at_least: Annotated[
        bool, Meta(description="due requests were never sent, so that p95 is a lower bound")
    ] = False
    spread: Annotated[
        float | None,
        Meta(
            description="coefficient of variation of ok/s, as a fraction:"
            " of the rounds, or of the intervals of one"
        ),
    ] = None
    stream: Annotated[
        dict[str, float] | UnsetType,
        Meta(description="of streams, each by its name in a condition: `ttft p95`, `tokens/s`"),
    ] = UNSET
    rate: Annotated[Amount | UnsetType, Meta(description=OF_ARRIVALS)] = UNSET

    @property
    def position(self) -> Position:
        """The position among levels."""
        return position_of(self.concurrency, self.rate)

    @property
    def stream_values(self) -> dict[str, float]:
        """The numbers of streams by their names in conditions; none if there are none."""
        return {} if self.stream is UNSET else self.stream

    def value(self, metric: str) -> float | None:
        """Return a number by its field or by its name in `stream`; None where there is none."""
        number: float | None = self.stream_values.get(metric, getattr(self, metric, None))
        return number

    @property
    def is_dead(self) -> bool:
        """Whether no request succeeded."""
        return self.ok_per_s == 0 and self.service_ms is None


class LevelSeries(ResultPart, kw_only=True):
    """One side of a diff: its levels that claim something, in ascending order."""

    name: str
    points: list[LevelPoint]
