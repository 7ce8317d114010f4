"""What the parts of result.json are made of: shares, counts, amounts and distributions."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Rate = Annotated[float, Field(ge=0, le=100, description="percent")]
Count = Annotated[int, Field(ge=0)]
MOST = 1e15
"""Of a number: sums of larger ones would not be numbers any more."""
Amount = Annotated[float, Field(ge=0, le=MOST)]
Value = Annotated[float, Field(ge=-MOST, le=MOST)]


class Part(BaseModel):
    """One object of result.json; keys that it does not know are kept."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, allow_inf_nan=False)


class Stats(Part):
    """One distribution of times, in milliseconds.

    A percentile p is null below 10 / (1 - p) values. `at_least` names those that are only known
    to be at least what they say.
    """

    n: Count
    mean: Value | None = None
    stdev: Value | None = None
    within_stdev_rate: Rate | None = None
    min: Value | None = None
    p50: Value | None = None
    p75: Value | None = None
    p90: Value | None = None
    p95: Value | None = None
    p99: Value | None = None
    p99_9: Value | None = None
    p99_99: Value | None = None
    max: Value | None = None
    at_least: list[str] = []
