"""The settings of a run as result.json has them, and the record that a comparison makes of itself.

Keys with their default are not written. Keys of older results that torr no longer writes are left
out.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from torr.messages.message import Message
from torr.model.json import JsonObject
from torr.model.pin import Pin
from torr.model.settings import TunedParameter
from torr.results.base import Count, Factor, Factors, ResultPart
from torr.results.position import Position


class GivenUp(ResultPart, kw_only=True):
    """A candidate that had no further trials in a cell, after failures in a row."""

    candidate: str
    factors: Factors = {}
    failures: Count


class Experiment(ResultPart, kw_only=True, omit_defaults=True):
    """The settings of a run of any kind, and the record that a comparison makes of itself."""

    # A run and a ladder.
    levels: Annotated[
        list[int] | str | None, Meta(description="of a ladder: concurrencies, or auto:START")
    ] = None
    rates: Annotated[
        list[Position] | str | None,
        Meta(description="of a ladder: arrivals per second, or auto:START"),
    ] = None
    rounds: Count | None = None
    slos: list[str] = []
    slo_presets: Annotated[
        list[str], Meta(description="names that stood for some of these SLOs, such as mlperf:…")
    ] = []
    abort_on: list[str] = []
    min_capacity: str | None = None
    allow_not_shown: Annotated[
        bool, Meta(description="verdicts `not shown` do not fail the command")
    ] = False

    # A comparison.
    baseline: str | None = None
    primary: Annotated[str | None, Meta(description="the metric of the matrix file")] = None
    factors: dict[str, list[Factor]] = {}
    candidates: Annotated[
        dict[str, JsonObject], Meta(description="command, plan and versions of each candidate")
    ] = {}
    stages: Annotated[list[int], Meta(description="rounds after which cells may end")] = []
    seed: int | None = None
    restart: Literal["trial", "cell"] | None = None
    pause_ns: Count | None = None
    warmup_requests: Count | None = None
    alpha: Annotated[float, Meta(gt=0, lt=1)] | None = None
    discard_if: str | None = None
    pin: Annotated[
        Pin | UnsetType | None,
        Meta(description="cores of both sides; null: they share all; absent: nodes sent the load"),
    ] = UNSET
    until: str | None = None
    answers: Annotated[
        dict[str, JsonObject], Meta(description="the first response of each candidate")
    ] = {}
    differences: list[Message] = []
    rules: list[Message] = []
    given_up: list[GivenUp] = []

    # A tuning; `stages` are its looks, in fresh rounds.
    parameters: Annotated[
        list[TunedParameter], Meta(description="their combinations are the settings, in order")
    ] = []
    default: Annotated[Count | None, Meta(description="the number of the default setting")] = None
    budget: Annotated[str | None, Meta(description="as it was given: trials or a time")] = None
    search: Annotated[Count | None, Meta(description="trials of the search")] = None

    # A Locust test.
    locust: Annotated[str | None, Meta(description="the version of Locust")] = None
    locustfiles: list[str] = []
    user_classes: list[str] = []
    hosts: list[str] = []
    users: int | None = None
    spawn_rate: int | float | None = None
    run_time_s: str | int | float | None = None
    processes: int | None = None
    stop_timeout_s: str | int | float | None = None
    shape: str | None = None
    tags: list[str] = []
    exclude_tags: list[str] = []
    reset_stats: bool = False
