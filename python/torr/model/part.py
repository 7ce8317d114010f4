"""What the parts of result.json are made of: shares, counts, amounts and distributions."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Rate = Annotated[float, Field(ge=0, le=100, description="percent")]
Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0)]


class Part(BaseModel):
    """One object of result.json; keys that it does not know are kept."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, allow_inf_nan=False)


class Stats(Part):
    """One distribution of times, in milliseconds.

    A percentile p is null below 10 / (1 - p) values. `at_least` names those that are only known
    to be at least what they say.
    """

    n: Count
    mean: float | None = None
    stdev: float | None = None
    within_stdev_rate: Rate | None = None
    min: float | None = None
    p50: float | None = None
    p75: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    p99_99: float | None = None
    max: float | None = None
    at_least: list[str] = []
