"""The compiled engine; texts are JSON."""

from collections.abc import Callable, Iterator, Sequence
from typing import final

from typing_extensions import Self

from torr.model.feed import FeedRow

__all__ = [
    "Call",
    "ConnectionPool",
    "Counts",
    "Reactor",
    "RequestTally",
    "Run",
    "TallyAggregate",
    "Target",
    "Tls",
    "defects",
    "faults",
    "fire",
    "listen",
    "messages",
    "once",
    "read_toml",
    "reasons",
    "statistics",
    "version",
]

@final
class Run:
    """One running load, in threads or processes of its own."""

    def __new__(
        cls,
        plan_json: str,
        child: list[str] = ...,
        rows: Iterator[list[FeedRow]] | None = ...,
    ) -> Self:
        """Start a load; raise ValueError for an invalid plan or a host that cannot be resolved.

        `child` is the command of a process that calls `fire`, for plans of several processes;
        `rows` are those of the plan's feed, if it has one.
        """
    @staticmethod
    def on_nodes(
        plan_json: str,
        sockets: list[tuple[str, int]],
        rows: Iterator[list[FeedRow]] | None = ...,
        silence_s: int | None = ...,
    ) -> Run:
        """Start a load on other nodes; raise as the constructor does.

        Each has a name and connected TCP sockets, by descriptor, at whose other end `fire` runs.
        The sockets are duplicated. A node counts as lost after `silence_s` without a sign of life,
        or after the usual time.
        """
    def next_interval(self, timeout_s: float) -> str | None:
        """Return the next interval; None if none came in time or there are no more."""
    def done(self) -> bool:
        """Return whether all intervals were returned and the level is ready."""
    def stop(self) -> None:
        """End the measurement window; wait for open requests up to the drain time."""
    def abort(self) -> None:
        """End at once; open requests count as in flight."""
    def level(self) -> str:
        """Return the measured level; raise RuntimeError while the load is running."""

@final
class Target:
    """An embedded server, which listens in threads of its own."""

    @property
    def port(self) -> int:
        """Return the port on which it listens."""
    def __new__(cls, spec_json: str) -> Self:
        """Listen; raise ValueError for an invalid spec, OSError if it cannot listen."""
    def counts(self) -> str:
        """Return its counts."""
    def stop(self) -> None:
        """Close the listener and all connections; raise OSError if its log is incomplete.

        A second call does nothing. The counts remain.
        """

@final
class RequestTally:
    """Counts the requests of one Locust process.

    Create it after any fork, in the thread that sends the load. Requests are counted from `begin`
    to `end`; rows remain after a test.
    """

    def __new__(cls) -> Self:
        """Create a tally without rows."""
    def row(self, method: str, name: str, *, event: bool = False) -> int:
        """Return the row of a method, which may be empty, and a name; beyond 200 names share one.

        An event has no exchange of torr; its row is in no total.
        """
    def begin(self, *, warmup: bool = False) -> None:
        """Begin a test, and drop earlier counts; a warm-up lasts until `open_window`."""
    def open_window(self) -> None:
        """End the warm-up, if there is one."""
    def set_unreported_streams(self, broken: int) -> None:
        """Set the number of broken streams of this test that Locust has not reported."""
    def record_event(
        self,
        row: int,
        response_ms: float | None,
        failure: str | None = None,
        bytes_in: int = 0,
        unsent: bool = False,
    ) -> None:
        """Count an event that the locustfile fired; raise ValueError for an unknown row."""
    def record_request(
        self,
        row: int,
        call: Call,
        response_ms: float | None,
        failure: str | None = None,
        is_status: bool = False,
    ) -> bool:
        """Count a request as Locust reported it; a stream is counted when it ends.

        Return False, and count nothing, if the call was reported before.
        """
    def record_timer_lag(self, seconds: float) -> None:
        """Record the lag of a timer of this process."""
    def end(self) -> None:
        """End the test."""
    def take_report(self) -> bytes | None:
        """Return the counts of the complete seconds since the last report, or None.

        After the end of the test, return all others.
        """

@final
class TallyAggregate:
    """Adds up the counts of all processes of one test, by name and by second."""

    def __new__(
        cls, addresses: list[str] = ..., *, warmup_s: float = 0.0, is_master: bool = False
    ) -> Self:
        """Begin a test; raise ValueError if an address of the target is not `IP:PORT`.

        `warmup_s` is the expected length of the warm-up; a master sends no load itself.
        """
    def expect(self, process: str) -> None:
        """Expect reports of a process."""
    def add_report(self, process: str, report: bytes) -> list[str]:
        """Add a report, and return the completed intervals; raise ValueError if it is invalid."""
    def add_local(self, process: str, tally: RequestTally) -> list[str]:
        """Add the counts of this process, and return the completed intervals."""
    def set_users(self, now: int) -> None:
        """Set the number of users; the maximum is the concurrency."""
    def end(self, *, interrupted: bool = False) -> list[str]:
        """End the test, and return the remaining intervals."""
    def level(self) -> str:
        """Return the level; complete after the end."""

def once(plan_json: str) -> str:
    """Send one request, and return request and answer."""

def fire() -> None:
    """Send the part of a load whose plan is read from standard input; end with the input."""

def listen(spec_json: str) -> None:
    """Serve a port together with other processes, until standard input ends.

    Print `listening` when it listens, and its counts as a line of JSON at the end.
    """

def statistics(values: Sequence[int]) -> str:
    """Return `stats` and `histogram` of nanoseconds, as in result.json."""

def version() -> str:
    """Return the version of the engine."""

def defects() -> list[tuple[str, str]]:
    """Return the defects of streams of a chat target: names and meanings."""

def read_toml(text: str) -> str:
    """Return TOML as JSON: its `value`, and in `lines` the line of each key by its dotted path.

    Raise ValueError with a text that begins with the line and a colon.
    """

def faults() -> list[str]:
    """Return the names of the faults of a faulty target."""

def reasons() -> list[tuple[str, str]]:
    """Return the error reasons: names and descriptions."""

def messages() -> list[tuple[str, list[str]]]:
    """Return the codes of the messages in levels with their English, for one `{n}` and several."""

@final
class Reactor:
    """The connections of one thread; call `poll` when its descriptor is ready."""

    def __new__(cls) -> Self: ...
    def fileno(self) -> int: ...
    def connection_pool(
        self,
        addresses: Sequence[tuple[str, int]],
        tls: Tls | None = None,
        connect: bytes | None = None,
        max_idle: int = 10,
    ) -> ConnectionPool:
        """Return a connection pool for a list of addresses, which are tried in this order."""

    @property
    def unreported_streams(self) -> int:
        """Return the number of broken streams that Locust has not reported."""

    def poll(self, failed: Callable[[BaseException], object]) -> None:
        """Handle all socket events and due timers, then resume the waiting greenlets."""

@final
class ConnectionPool:
    """The connections to one destination."""

    def send(
        self,
        head: bytes,
        body: bytes,
        flags: int,
        connect_s: float | None,
        read_s: float | None,
        waiter: Callable[[], object],
    ) -> Call:
        """Start an exchange; the waiter is called at its next event."""

@final
class Tls:
    """The TLS client for one host name; raise ValueError for a file that cannot be used."""

    def __new__(
        cls,
        host: str,
        insecure: bool = False,
        ca: str | None = None,
        identity: tuple[str, str] | None = None,
    ) -> Self:
        """Read the certificates."""

@final
class Call:
    """One exchange, owned by the greenlet that waits for it."""

    @property
    def is_over(self) -> bool: ...
    @property
    def status(self) -> int: ...
    @property
    def failure(self) -> str | None: ...
    @property
    def was_reset(self) -> bool: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def body_length(self) -> int: ...
    def outcome(self) -> int:
        """Return the status of a plain answer or head; 0 if it is not plain, −1 before."""

    def piece(self, waiter: Callable[[], object]) -> bytes | None:
        """Return the next piece of a stream, empty at its end; None if there is none yet."""

    def abandon(self) -> None:
        """Close the connection of an interrupted greenlet; the request stays in flight."""

    def cancel(self) -> None:
        """Close the connection of a running call; the waiter is not called."""

    def head(self) -> tuple[int, int, str, list[tuple[str, str]]]:
        """Return version (10 or 11), status, reason, fields; raise ValueError without a head."""

    def excerpt(self) -> bytes:
        """Return the bytes of the head, and those that were read with it."""

    def body(self) -> bytes:
        """Return the body of a call that has ended; empty the second time."""

    def stamps(self) -> tuple[int, int, int, int, int]:
        """Return intended, sent, first byte, last byte, resumed: monotonic ns; −1 is none."""

@final
class Counts:
    """Counts for Locust's statistics until these are read."""

    def __new__(cls) -> Self: ...
    def add(self, number: int, milliseconds: float, length: int) -> None:
        """Count a request under a number."""

    def has_some(self) -> bool:
        """Return whether requests were counted since the last `take`."""

    def take(
        self,
    ) -> list[
        tuple[int, tuple[int, float, float, float, int, float, dict[int, int], dict[int, int]]]
    ]:
        """Return counts by number: requests, sum, min, max, length, last, buckets, seconds."""
