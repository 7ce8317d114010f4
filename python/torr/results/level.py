"""The `levels` of a result, and their timelines: one measured load step each."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from torr.messages.message import Message
from torr.results.base import Amount, Count, Factors, Percent, ResultPart, Statistics
from torr.results.functions import FunctionTiming
from torr.results.monitor import MonitorSeries
from torr.results.position import Position, position_of
from torr.results.stream import StreamStatistics
from torr.results.trace import TraceContent
from torr.results.tuning import TrialPlace

MOST_STARVED = 1
"""Percent of the users that may be missing from a level that claims something: as many as the
connections that a healthy generator may miss."""

RESENT = (
    "requests that were sent again because the server had not processed them; absent if there are"
    " none, as with HTTP/1.1"
)

STALLED = (
    "percent of the time of open connections in which they could not send what they had to send;"
    " absent for HTTP/1.1, null if none was open"
)

CANCELLED = "attempts whose users gave up (--cancel), which are no errors; absent if none did"
POSTPONED = (
    "rows of a trace that started later than due, since a row before them had not ended, or in a"
    " closed loop since as many requests as users were under way; absent if none did"
)
LEFT_OUT = (
    "rows of a trace that were not sent, since they need the answer of an attempt that failed;"
    " absent if there are none"
)

CANCELLED_RATE = (
    "attempts per second whose users gave up in the window, whenever they began; absent if none did"
)
OPEN = (
    "attempts that are open at its end, also those of the warm-up; absent in older results, null if"
    " Locust fired"
)

FALLS_BEHIND = (
    "whether the target did not keep up with the rate, so that open requests became more and more,"
    " or due ones were dropped; absent if all of the load are users"
)

HttpVersionName = Literal["1.1", "2", "2c"]
HealthWord = Literal["healthy", "contended", "generator-limited"]
Phase = Literal["warmup", "measure", "drain"]


class AttemptCounts(ResultPart, kw_only=True):
    """Attempts by how they ended.

    planned = attempted + dropped, attempted = ok + errors + cancelled + in_flight.
    """

    planned: Count = 0
    attempted: Count = 0
    ok: Count = 0
    dropped: Count = 0
    in_flight: Count = 0
    errors: dict[str, Count] = {}
    cancelled: Annotated[Count | UnsetType, Meta(description=CANCELLED)] = UNSET

    @property
    def failed(self) -> int:
        """The number of attempts that ended in an error."""
        return sum(self.errors.values())

    @property
    def ended(self) -> int:
        """The number of attempts that ended, ok or in an error."""
        return self.ok + self.failed

    def failed_of(self, error_class: str | None) -> int:
        """Return how many attempts ended in an error of a class; None for all classes."""
        return self.failed if error_class is None else self.errors.get(error_class, 0)


class Latency(ResultPart, kw_only=True):
    """Times of the ok responses; a metric without a value is null."""

    service_ms: Annotated[
        Statistics | None, Meta(description="last byte of the response − first byte sent")
    ] = None
    response_ms: Annotated[
        Statistics | None, Meta(description="last byte of the response − when the request was due")
    ] = None
    ttfb_ms: Annotated[
        Statistics | None, Meta(description="first byte of the response − first byte sent")
    ] = None
    queue_wait_ms: Annotated[
        Statistics | None, Meta(description="first byte sent − taken up by a worker")
    ] = None
    stream_wait_ms: Annotated[
        Statistics | UnsetType | None,
        Meta(
            description="how long a request waited because the server allowed its connection no"
            " more streams; absent for HTTP/1.1"
        ),
    ] = UNSET
    window_wait_ms: Annotated[
        Statistics | UnsetType | None,
        Meta(
            description="how long the body of the request waited for a window of flow control;"
            " absent for HTTP/1.1, and for requests without a body"
        ),
    ] = UNSET
    message_ms: Annotated[
        Statistics | UnsetType | None,
        Meta(
            description="from a message of a gRPC call to the message that answers it; absent if"
            " the messages of a call are sent together"
        ),
    ] = UNSET
    connect_ms: Annotated[Statistics | None, Meta(description="of connections opened")] = None
    tls_ms: Annotated[Statistics | None, Meta(description="of the TLS handshakes")] = None
    scheduling_lag_ms: Annotated[
        Statistics | None,
        Meta(description="taken up by a worker − when the request was due"),
    ] = None

    def time(self, key: str) -> Statistics | None:
        """Return a time by its key, such as `service_ms`; None where it has none."""
        time: Statistics | UnsetType | None = getattr(self, key, None)
        return time or None

    @property
    def service(self) -> Statistics:
        """Last byte of the response − first byte sent; without a value all of it is None."""
        return self.service_ms or Statistics(n=0)

    @property
    def response(self) -> Statistics:
        """Last byte of the response − when the request was due."""
        return self.response_ms or Statistics(n=0)

    @property
    def ttfb(self) -> Statistics:
        """First byte of the response − first byte sent."""
        return self.ttfb_ms or Statistics(n=0)

    @property
    def queue_wait(self) -> Statistics:
        """First byte sent − taken up by a worker."""
        return self.queue_wait_ms or Statistics(n=0)

    @property
    def connect(self) -> Statistics:
        """The time to open a connection."""
        return self.connect_ms or Statistics(n=0)

    @property
    def tls(self) -> Statistics:
        """The time of the TLS handshake."""
        return self.tls_ms or Statistics(n=0)

    @property
    def scheduling_lag(self) -> Statistics:
        """Taken up by a worker − when the request was due: the load generator's own delay."""
        return self.scheduling_lag_ms or Statistics(n=0)


class LatencyOfAll(ResultPart, kw_only=True):
    """Times of all attempts that ended, a timeout at its elapsed time."""

    service_ms: Statistics | None = None
    response_ms: Statistics | None = None
    censored: Count = 0
    stream_wait_ms: Annotated[
        Statistics | UnsetType, Meta(description="as in `latency`; of a timeout, until then")
    ] = UNSET
    window_wait_ms: Annotated[
        Statistics | UnsetType, Meta(description="as in `latency`; of a timeout, until then")
    ] = UNSET


class ErrorSample(ResultPart, kw_only=True):
    """A recorded answer of an error class: its head and its first 1 KB, secrets redacted."""

    name: Annotated[str | None, Meta(description="the row that it is of, in a run of Locust")] = (
        None
    )
    error_class: str = field(name="class")
    reason: str | None = None
    detail: str = ""
    t_s: float | None = None
    status: int | None = None
    head: str = ""
    body: str = ""


class ServerLimits(ResultPart, kw_only=True):
    """The limits that the server set for a connection of HTTP/2; of several servers, the lowest."""

    streams: Annotated[
        Count | None, Meta(description="that may be open at once; null if there is no limit")
    ] = None
    window_bytes: Annotated[
        Count,
        Meta(description="of a body that may be sent on a stream before the server allows more"),
    ] = 0
    frame_bytes: Annotated[Count, Meta(description="of the longest payload of a frame")] = 0
    header_table_bytes: Annotated[Count, Meta(description="of the table of header compression")] = 0
    header_list_bytes: Annotated[
        Count | None, Meta(description="of the largest head; null if there is no limit")
    ] = None


class Http2(ResultPart, kw_only=True):
    """What connections of HTTP/2 did in the window, and what the server allows."""

    requests_per_write: Annotated[
        Amount | None, Meta(description="requests that one write to a connection sent, on average")
    ] = None
    server_limits: Annotated[
        ServerLimits | None, Meta(description="null if no server has sent its limits")
    ] = None


class WebSocketCounts(ResultPart, kw_only=True):
    """What connections of WebSocket did in the window, beside the messages that were answered."""

    unmatched_messages: Annotated[
        Count, Meta(description="received messages that answer none of torr's")
    ] = 0
    pings: Annotated[Count, Meta(description="received pings, which torr answers")] = 0
    closed: Annotated[Count, Meta(description="connections that ended in the window")] = 0
    closed_by_server: Annotated[Count, Meta(description="of those, by the server")] = 0
    lifetime_ms: Annotated[
        Statistics | None, Meta(description="how long the connections were open that ended")
    ] = None
    unconfirmed: Annotated[
        Count,
        Meta(
            description="connections of one-way messages whose server did not confirm that it has"
            " read all of them, in the whole load"
        ),
    ] = 0


class ConnectionCounts(ResultPart, kw_only=True):
    """Connections: requested, open at the same time at most, and opened in total."""

    requested: Count = 0
    open_max: Count = 0
    opened: Count = 0


class IntervalHealth(ResultPart, kw_only=True):
    """Measurements of the load generator itself in one interval, a value for each worker."""

    workers: list[Count] = []
    worker_cpu_rate: list[float | None] = []
    run_queue_rate: list[float | None] = []
    scheduling_lag_ms: list[float | None] = []
    scheduling_lag_limit_ms: list[float | None] = []
    receive_queue_bytes: list[Count | None] = []
    steal_rate: float | None = None
    target_cpu_rate: float | None = None
    stalled_rate: Annotated[Percent | UnsetType | None, Meta(description=STALLED)] = UNSET


class IntervalNode(ResultPart, kw_only=True):
    """The part of a node in the counts of an interval."""

    name: str
    attempted: Count = 0
    ok: Count = 0
    ok_per_s: Amount | None = None


class Interval(ResultPart, kw_only=True):
    """One interval of the timeline; the warm-up has negative `t_s`. `in_flight` is at its end.

    `level` counts the levels of a run from 0.
    """

    level: Count | None = None
    concurrency: Count | None = None
    round: int | None = None
    t_s: float
    seconds: Amount
    phase: Phase
    counts: AttemptCounts = field(default_factory=AttemptCounts)
    ok_per_s: Amount | None = None
    attempted_per_s: Amount | None = None
    bytes_in: Count = 0
    bytes_out: Count = 0
    cancelled_per_s: Annotated[Amount | UnsetType, Meta(description=CANCELLED_RATE)] = UNSET
    resent: Annotated[Count | UnsetType, Meta(description=RESENT)] = UNSET
    postponed: Annotated[Count | UnsetType, Meta(description=POSTPONED)] = UNSET
    postponed_mean_ms: Annotated[
        Amount | UnsetType, Meta(description="how much later they started")
    ] = UNSET
    left_out: Annotated[Count | UnsetType, Meta(description=LEFT_OUT)] = UNSET
    connections_open: Count | None = None
    requests_open: Annotated[Count | UnsetType | None, Meta(description=OPEN)] = UNSET
    statuses: dict[str, Count] = {}
    reasons: dict[str, Count] = {}
    latency: Latency = field(default_factory=Latency)
    stream: StreamStatistics | None = None
    histograms: dict[str, str] = {}
    health: IntervalHealth | None = None
    nodes: Annotated[
        list[IntervalNode] | UnsetType, Meta(description="absent if this machine sent the load")
    ] = UNSET


class WarmUp(ResultPart, kw_only=True):
    """The time before the measured window, counted separately."""

    seconds: Amount = 0
    counts: AttemptCounts = field(default_factory=AttemptCounts)
    latency: Latency = field(default_factory=Latency)


class Health(ResultPart, kw_only=True):
    """Whether the load generator could have been the limit; a limited level claims nothing."""

    verdict: HealthWord
    reasons: list[Message] = []
    worker_cpu_rate: list[float] = []
    run_queue_rate: list[float] = []
    intervals: Annotated[Count, Meta(description="intervals that were judged")] = 0
    late_intervals: Annotated[Count, Meta(description="of those, with a worker that was late")] = 0
    scheduling_lag_ms: Annotated[
        Amount | None,
        Meta(description="what the judged lag of the latest worker reached in a fifth of them"),
    ] = None
    steal_rate: float | None = None
    target_cpu_rate: float | None = None
    receive_queue_bytes: list[Count] = []
    stalled_rate: Annotated[Percent | UnsetType | None, Meta(description=STALLED)] = UNSET


class NodeClock(ResultPart, kw_only=True):
    """The clock of a node of the load generator, compared with this machine's."""

    offset_ms: Annotated[float, Meta(description="its time minus this machine's, before the load")]
    error_ms: Annotated[
        Amount, Meta(description="the maximum error of its times on this machine's clock")
    ]
    drift_ms: Annotated[float, Meta(description="how much the offset changed during the load")]


class GeneratorNode(ResultPart, kw_only=True):
    """A node, which is another machine, that sent a part of the load."""

    name: str
    processes: Count
    lost_processes: Annotated[
        Count, Meta(description="processes that ended before their load did")
    ] = 0
    attempted: Annotated[Count, Meta(description="its part of the attempts of the level")] = 0
    ok: Annotated[Count, Meta(description="its part of the successful requests of the level")] = 0
    clock: Annotated[
        NodeClock | None, Meta(description="null if it has the clock of this machine")
    ] = None
    verdict: Annotated[
        HealthWord | None, Meta(description="the health of its workers and its machine")
    ] = None
    reasons: list[Message] = []
    steal_rate: float | None = None


class GeneratorCost(ResultPart, kw_only=True):
    """CPU and memory of the load generator."""

    cpu_s: Amount | None = None
    cpu_us_per_request: Amount | None = None
    max_rss_bytes: Count | None = None
    workers: Count | None = None
    processes: Count | None = None
    nodes: Annotated[
        list[GeneratorNode], Meta(description="empty if this machine sent the load")
    ] = []


class NamedRequest(ResultPart, kw_only=True):
    """One named request: the level's numbers, for it alone."""

    name: str
    event: Annotated[
        bool,
        Meta(description="fired by a locustfile itself, with no exchange behind it: in no total"),
    ] = False
    counts: AttemptCounts = field(default_factory=AttemptCounts)
    reasons: dict[str, Count] = {}
    statuses: dict[str, Count] = {}
    ok_per_s: Amount | None = None
    attempted_per_s: Amount | None = None
    success_rate: Percent | None = None
    bytes_in: Count = 0
    bytes_out: Count = 0
    cancelled_per_s: Annotated[Amount | UnsetType, Meta(description=CANCELLED_RATE)] = UNSET
    resent: Annotated[Count | UnsetType, Meta(description=RESENT)] = UNSET
    postponed: Annotated[Count | UnsetType, Meta(description=POSTPONED)] = UNSET
    postponed_mean_ms: Annotated[
        Amount | UnsetType, Meta(description="how much later they started")
    ] = UNSET
    left_out: Annotated[Count | UnsetType, Meta(description=LEFT_OUT)] = UNSET
    latency: Latency = field(default_factory=Latency)
    warmup: WarmUp | None = None
    stream: StreamStatistics | None = None


class Level(ResultPart, kw_only=True):
    """One measured trial of one setting."""

    candidate: str | None = None
    factors: Factors = {}
    round: Annotated[int, Meta(ge=1)] = 1
    place: Annotated[
        TrialPlace | UnsetType, Meta(description="of a trial of a tuning; absent otherwise")
    ] = UNSET
    concurrency: Count
    fired_by: Annotated[
        Literal["engine", "locust"],
        Meta(description="who fired: the engine's workers, or users of Locust"),
    ] = "engine"
    users: Annotated[
        Count, Meta(description="of the concurrency; the others are connections of arrivals")
    ] = 0
    rate: Annotated[Amount | None, Meta(description="arrivals a second that were asked for")] = None
    seconds: Annotated[Amount, Meta(description="the measured window")]
    counts: AttemptCounts
    reasons: dict[str, Count] = {}
    statuses: dict[str, Count] = {}
    samples: list[ErrorSample] = []
    connections: ConnectionCounts | None = None
    http: Annotated[
        HttpVersionName | UnsetType,
        Meta(description="the version of HTTP; 2c is HTTP/2 without TLS; absent if Locust fired"),
    ] = UNSET
    http2: Annotated[Http2 | UnsetType, Meta(description="absent for HTTP/1.1")] = UNSET
    websocket: Annotated[
        WebSocketCounts | UnsetType, Meta(description="absent without ws:// and wss:// URLs")
    ] = UNSET
    ok_per_s: Amount
    inputs_per_s: Annotated[
        Amount | UnsetType,
        Meta(description="texts of batches that models processed; absent without batches"),
    ] = UNSET
    attempted_per_s: Amount = 0
    success_rate: Percent | None = None
    bytes_in: Count = 0
    bytes_out: Count = 0
    cancelled_per_s: Annotated[Amount | UnsetType, Meta(description=CANCELLED_RATE)] = UNSET
    resent: Annotated[Count | UnsetType, Meta(description=RESENT)] = UNSET
    postponed: Annotated[Count | UnsetType, Meta(description=POSTPONED)] = UNSET
    postponed_mean_ms: Annotated[
        Amount | UnsetType, Meta(description="how much later they started")
    ] = UNSET
    left_out: Annotated[Count | UnsetType, Meta(description=LEFT_OUT)] = UNSET
    trace: Annotated[
        TraceContent | UnsetType, Meta(description="what was read of the trace; absent without")
    ] = UNSET
    latency: Latency = field(default_factory=Latency)
    latency_all: LatencyOfAll | None = None
    stream: StreamStatistics | None = None
    requests: list[NamedRequest] = []
    histograms: dict[str, str] = {}
    warmup: WarmUp | None = None
    health: Health
    generator: GeneratorCost | None = None
    monitor: MonitorSeries | None = None
    micro: FunctionTiming | None = None
    warnings: list[Message] = []
    failure: Message | None = None
    interrupted: bool = False
    cut_short: Annotated[bool, Meta(description="its window ended early: it claims nothing")] = (
        False
    )
    falls_behind: Annotated[bool | UnsetType, Meta(description=FALLS_BEHIND)] = UNSET
    starved: Annotated[
        Count,
        Meta(
            description="users without a response in the whole window: their request of the warm-up"
            " was open until its end; beyond 1 % of them the level claims nothing"
        ),
    ] = 0
    intervals: Annotated[list[Interval], Meta(description="the last key")] = []

    @property
    def position(self) -> Position:
        """The position among levels."""
        return position_of(self.concurrency, self.offered_rate)

    @property
    def is_limited(self) -> bool:
        """Whether the generator was the limit, so that the level claims nothing."""
        return self.health.verdict == "generator-limited"

    @property
    def is_contended(self) -> bool:
        """Whether client and target shared the machine, so that rates are lower bounds."""
        return self.health.verdict == "contended"

    @property
    def is_starved(self) -> bool:
        """Whether users waited in the whole window for the response to a request of the warm-up.

        The others' figures are true, but they are those of fewer users than the level is named
        after.
        """
        return 100 * self.starved > MOST_STARVED * self.user_count

    @property
    def lacks_sessions(self) -> bool:
        """Whether there were fewer sessions of a trace than users."""
        if not self.trace or not self.trace.is_whole or self.is_by_times:
            return False
        return 0 < self.trace.sessions < self.user_count

    @property
    def is_of_fewer_users(self) -> bool:
        """Whether it was a load of fewer users than it is named after."""
        return self.is_starved or self.lacks_sessions

    @property
    def is_mixed(self) -> bool:
        """Whether some of its load were users, the rest arrivals at a rate."""
        return self.users > 0 and self.rate is not None

    @property
    def offered_rate(self) -> float | None:
        """The rate of its arrivals, None if some of its load were users."""
        return None if self.is_mixed else self.rate

    @property
    def is_by_times(self) -> bool:
        """Whether its requests started at the times of a trace."""
        return bool(self.trace) and not self.users

    @property
    def user_count(self) -> int:
        """The number of users: the concurrency, less the connections of arrivals."""
        return self.users if self.is_mixed else self.concurrency

    @property
    def is_shared(self) -> bool:
        """Whether there are more users than connections were asked for."""
        return self.connections is not None and 0 < self.connections.requested < self.concurrency

    @property
    def is_of_locust(self) -> bool:
        """Whether users of Locust fired, each over the connections that it made."""
        return self.fired_by == "locust"

    @property
    def event_count(self) -> int:
        """How many events a locustfile fired by itself: they are in no total."""
        return sum(step.counts.attempted for step in self.requests if step.event)

    @property
    def window(self) -> list[Interval]:
        """The intervals of the measured window."""
        return [interval for interval in self.intervals if interval.phase == "measure"]

    @property
    def has_constant_users(self) -> bool:
        """Whether there were as many users in each interval of the window, as far as is known."""
        return len({interval.concurrency for interval in self.window}) < 2

    def request(self, name: str) -> NamedRequest | None:
        """Return the first request of a name."""
        return next((step for step in self.requests if step.name == name), None)


MeasuredPart = Level | NamedRequest | Interval
"""The parts of a result that a condition can be judged by."""


def time_of(part: MeasuredPart, key: str) -> Statistics | None:
    """Return a time by its key, such as `service_ms` or `ttft_ms`; None where it has none."""
    time = part.latency.time(key)
    return time if time is not None or part.stream is None else part.stream.time(key)


def times_of_streams(part: MeasuredPart) -> dict[str, Statistics]:
    """Return the measured times of streams, by their names; `message` if messages are answered."""
    if part.stream is None:
        return {}
    message = part.latency.time("message_ms")
    return part.stream.times | ({"message": message} if message else {})


def rate_of(part: MeasuredPart, key: str) -> float | None:
    """Return a rate or a share by its key, such as `ok_per_s`; of streams where it has none."""
    rate: float | None = getattr(part, key, None)
    return rate if rate is not None else getattr(part.stream, key, None)


def unreported_in(part: MeasuredPart, key: str) -> int:
    """Return how many responses did not report what a rate adds up: it is a lower bound then."""
    return part.stream.tokens_unreported if key == "tokens_per_s" and part.stream else 0
