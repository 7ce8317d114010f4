"""`result.json` as types: what a run leaves on disk, and what everything else is drawn from.

    Result ─ Level ─ Counts, Latency ─ Stats, Slice, Warmup, Health, Generator, Monitored, …
           ├ Capacity ─ Peak, Knee, SloCapacity, Usl
           └ Verdict

Times in `*_ms` are milliseconds, shares in `*_rate` percent in 0–100, `*_per_s` per second.
Schema 1 keeps the meaning of every key; new keys may come, so readers keep what they do not know.
The JSON Schema in docs/reference is generated from here and checked to be fresh by a test.
This module imports pydantic and is imported only to check or describe results, never to fire load.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError

from torr.errors import UsageError
from torr.model.claims import Capacity, Verdict
from torr.model.in_process import Budget, LeftBehind, Timing
from torr.model.json_input import JsonInputError, parse_json
from torr.model.moment import read_stamp
from torr.model.monitored import Monitored
from torr.model.outside import Outside
from torr.model.outside_file import MOST_RESULT_BYTES, read_bounded
from torr.model.part import Amount, Count, Part, Rate, Stats
from torr.model.profiled import Profile
from torr.model.streamed import Stream

if TYPE_CHECKING:
    from pathlib import Path


def _moment(text: str) -> str:
    read_stamp(text)
    return text


Moment = Annotated[str, AfterValidator(_moment)]


class Counts(Part):
    """Attempts by how they ended: planned = attempted + dropped, attempted = ok + errors + open."""

    planned: Count = 0
    attempted: Count = 0
    ok: Count = 0
    dropped: Count = 0
    in_flight: Count = 0
    errors: dict[str, Count] = {}


class Latency(Part):
    """Times of the ok answers; a metric without a value is null."""

    service_ms: Stats | None = None
    response_ms: Stats | None = None
    ttfb_ms: Stats | None = None
    wait_ms: Stats | None = None
    connect_ms: Stats | None = None
    tls_ms: Stats | None = None
    lag_ms: Stats | None = None

    @property
    def service(self) -> Stats:
        """Last byte of the answer − first byte sent; without a value all of it is None."""
        return self.service_ms or Stats(n=0)

    @property
    def response(self) -> Stats:
        """Last byte of the answer − when the request was due."""
        return self.response_ms or Stats(n=0)

    @property
    def ttfb(self) -> Stats:
        """First byte of the answer − first byte sent."""
        return self.ttfb_ms or Stats(n=0)

    @property
    def wait(self) -> Stats:
        """First byte sent − taken up by a worker."""
        return self.wait_ms or Stats(n=0)

    @property
    def connect(self) -> Stats:
        """Dialling."""
        return self.connect_ms or Stats(n=0)

    @property
    def tls(self) -> Stats:
        """The handshake after it."""
        return self.tls_ms or Stats(n=0)

    @property
    def lag(self) -> Stats:
        """Taken up by a worker − when the request was due: the generator's own delay."""
        return self.lag_ms or Stats(n=0)


class LatencyAll(Part):
    """Times of all attempts that ended, a timeout at its elapsed time."""

    service_ms: Stats | None = None
    response_ms: Stats | None = None
    censored: Count = 0


class Sample(Part):
    """One kept answer of an error class: its head and its first 1 KB, secrets redacted."""

    name: str | None = Field(default=None, description="the row that it is of, in a run of Locust")
    error_class: str = Field(alias="class")
    reason: str | None = None
    detail: str = ""
    t_s: float | None = None
    status: int | None = None
    head: str = ""
    body: str = ""


class Connections(Part):
    """Connections asked for, open at once at most, and opened in all."""

    asked: Count = 0
    open_max: Count = 0
    opened: Count = 0


class Slice(Part):
    """One interval of the timeline; the warm-up has negative `t_s`. `in_flight` is at its end.

    `level` counts the levels of a run from 0.
    """

    level: Count | None = None
    concurrency: Count | None = None
    round: int | None = None
    t_s: float
    seconds: Amount
    phase: Literal["warmup", "measure", "drain"]
    counts: Counts = Counts()
    ok_per_s: Amount | None = None
    attempted_per_s: Amount | None = None
    bytes_in: Count = 0
    bytes_out: Count = 0
    connections_open: Count | None = None
    statuses: dict[str, Count] = {}
    reasons: dict[str, Count] = {}
    latency: Latency = Latency()
    stream: Stream | None = None
    histograms: dict[str, str] = {}


class Warmup(Part):
    """The time before the measured window, kept apart."""

    seconds: Amount = 0
    counts: Counts = Counts()
    latency: Latency = Latency()


class Health(Part):
    """Whether the generator could have been the limit; a limited level claims nothing."""

    verdict: Literal["healthy", "contended", "generator-limited"]
    reasons: list[str] = []
    worker_cpu_rate: list[float] = []
    run_queue_rate: list[float] = []
    slices: Count = Field(default=0, description="slices that were judged")
    late_slices: Count = Field(default=0, description="of those, with a worker that was late")
    lag_ms: Amount | None = Field(
        default=None,
        description="what the judged lag of the latest worker reached in a fifth of the slices",
    )
    steal_rate: float | None = None
    target_cpu_rate: float | None = None
    receive_queue_bytes: list[Count] = []


class Generator(Part):
    """What the generator itself cost."""

    cpu_s: Amount | None = None
    cpu_us_per_request: Amount | None = None
    max_rss_bytes: Count | None = None
    workers: Count | None = None
    processes: Count | None = None


class Step(Part):
    """One named request: the level's numbers, for it alone."""

    name: str
    event: bool = Field(
        default=False,
        description="fired by a locustfile itself, with no exchange behind it: in no total",
    )
    counts: Counts = Counts()
    reasons: dict[str, Count] = {}
    statuses: dict[str, Count] = {}
    ok_per_s: Amount | None = None
    attempted_per_s: Amount | None = None
    success_rate: Rate | None = None
    bytes_in: Count = 0
    bytes_out: Count = 0
    latency: Latency = Latency()
    warmup: Warmup | None = None
    stream: Stream | None = None


class Level(Part):
    """One measured trial of one setting."""

    candidate: str | None = None
    factors: dict[str, Any] = {}
    round: int = Field(default=1, ge=1)
    concurrency: Count
    front: Literal["engine", "locust"] = Field(
        default="engine", description="who fired: the engine's workers, or users of Locust"
    )
    users: Count = Field(
        default=0, description="of the concurrency; the others are connections of arrivals"
    )
    rate: Amount | None = Field(default=None, description="arrivals a second that were asked for")
    seconds: Amount = Field(description="the measured window")
    counts: Counts
    reasons: dict[str, Count] = {}
    statuses: dict[str, Count] = {}
    samples: list[Sample] = []
    connections: Connections | None = None
    ok_per_s: Amount
    attempted_per_s: Amount = 0
    success_rate: Rate | None = None
    bytes_in: Count = 0
    bytes_out: Count = 0
    latency: Latency = Latency()
    latency_all: LatencyAll | None = None
    stream: Stream | None = None
    steps: list[Step] = []
    slices: list[Slice] = []
    histograms: dict[str, str] = {}
    warmup: Warmup | None = None
    health: Health
    generator: Generator | None = None
    monitor: Monitored | None = None
    micro: Timing | None = None
    warnings: list[str] = []
    failure: str | None = None
    interrupted: bool = False
    cut_short: bool = Field(default=False, description="its window ended early: it claims nothing")
    starved: Count = Field(
        default=0,
        description="users who got no answer in the whole window: their request of the warm-up was"
        " open until its end; beyond 1 % of them the level claims nothing",
    )


class TrialFailure(Part):
    """A trial that came to nothing, or that left something behind: the matrix went on."""

    candidate: str
    factors: dict[str, Any] = {}
    round: Count
    measured: bool = Field(
        False, description="its level is kept: this came during it, or behind it"
    )
    kind: str
    text: str
    hint: str | None = None
    log_tail: list[str] = []


class Result(Part):
    """The one truth of a run."""

    schema_: Literal[1] = Field(alias="schema")
    torr: str
    id: str | None = Field(default=None, description="what tells it from every other run")
    kind: Literal["run", "ladder", "compare", "diff", "locust", "micro"]
    name: str
    started: Moment
    ended: Moment | None = None
    status: Literal["complete", "interrupted", "failed", "running"]
    command: list[str] = []
    plan: dict[str, Any] | None = None
    note: str | None = None
    tags: list[str] = []
    environment: dict[str, Any] = {}
    levels: list[Level] = []
    failures: list[TrialFailure] = []
    profiles: list[Profile] = []
    capacity: Capacity | None = None
    verdicts: list[Verdict] = []
    budgets: list[Budget] = []
    leaks: list[LeftBehind] = []
    machine_speed: dict[str, Amount] | None = Field(
        default=None, description="of Python on this machine, as a multiple of the reference"
    )


_HINT = "give a run directory or its result.json"

AnyResult = TypeVar("AnyResult", bound=Result)


def read(path: Path) -> Result:
    """Read a `result.json`; raises UsageError that names the file and the first wrong key."""
    return read_as(Result, path)


def read_as(kind: type[AnyResult], path: Path) -> AnyResult:
    """Read a `result.json` as a class of one's own."""
    try:
        text = read_bounded(path, MOST_RESULT_BYTES)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    return checked(kind, text, str(path))


def checked(kind: type[AnyResult], text: bytes, whose: str) -> AnyResult:
    """Return the result that a text holds; `whose` is what messages call it.

    Raises UsageError that names the first wrong key.
    """
    _parsed(text, whose)
    return _validated(kind, text, whose)


def checked_json(text: bytes, whose: str) -> dict[str, Any]:
    """Return the result that a text holds as JSON; raises UsageError as `checked` does.

    Its texts are fit to be printed.
    """
    value = _parsed(text, whose)
    _validated(Result, text, whose)
    found: dict[str, Any] = Outside().json(value)
    return found


def _parsed(text: bytes, whose: str) -> object:
    """Return the JSON of a text whose numbers and depth are within bounds."""
    try:
        return parse_json(text)
    except JsonInputError as error:
        raise UsageError(f"{whose} is not a result of torr: {error}", _HINT) from error


def _validated(kind: type[AnyResult], text: bytes, whose: str) -> AnyResult:
    """Return the text with its types; strictly, since others take its JSON as it is."""
    try:
        return kind.model_validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the text"
        message = f"{whose} is not a result of torr: {where}: {first['msg']}"
        raise UsageError(message, _HINT) from error


def schema_text() -> str:
    """Return the JSON Schema of `result.json` as the text of docs/reference/result.schema.json."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Result.model_json_schema(by_alias=True),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write_schema(path: Path) -> None:
    """Write the JSON Schema of `result.json` to `path`."""
    path.write_text(schema_text(), encoding="utf-8")
