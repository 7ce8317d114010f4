"""The compiled engine; texts are JSON."""

from collections.abc import Callable, Sequence
from typing import final

from typing_extensions import Self

__all__ = [
    "Call",
    "Counts",
    "Gathering",
    "Lane",
    "Ledger",
    "Reactor",
    "Run",
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
    """One running load: it starts when it is made, in threads or processes of its own."""

    def __new__(cls, plan_json: str, child: list[str] = ...) -> Self:
        """Start; ValueError for a plan that cannot be run or a host that does not resolve.

        `child` are the words that start a process which calls `fire`, for plans of several.
        """
    def next_interval(self, timeout_s: float) -> str | None:
        """The next interval, or None when none came in time or all were handed out."""
    def done(self) -> bool:
        """Whether all intervals were handed out and the level is ready."""
    def stop(self) -> None:
        """End the measured window now; what is open is awaited up to the drain time."""
    def abort(self) -> None:
        """End at once; what is open counts as in flight."""
    def level(self) -> str:
        """The measured level; RuntimeError while it runs."""

@final
class Target:
    """An embedded server: it listens when it is made, in threads of its own."""

    @property
    def port(self) -> int:
        """Where it listens."""
    def __new__(cls, spec_json: str) -> Self:
        """Listen; OSError when that cannot be had, ValueError for a wrong spec."""
    def counts(self) -> str:
        """What it did so far."""
    def stop(self) -> None:
        """Close the listener and every connection; OSError when its log is not complete.

        Again does nothing; the counts stay.
        """

@final
class Ledger:
    """The books of one Locust process; made and used in the thread that fires, after any fork.

    Outside of a test, from `begin` to `end`, nothing counts. Rows outlive tests.
    """

    def __new__(cls) -> Self:
        """Know no row, and be in no test."""
    def row(self, method: str, name: str, *, event: bool = False) -> int:
        """The row of a method, which may be empty, and a name; beyond 200 they share one.

        An event has no exchange of ours behind it: its rows are in no total.
        """
    def begin(self, *, warmup: bool = False) -> None:
        """Begin a test; the one before is forgotten. A warm-up lasts until `open_window`."""
    def open_window(self) -> None:
        """End the warm-up, if it is one."""
    def unreported(self, broken: int) -> None:
        """Note how many streams broke in this test of which nothing was reported."""
    def book_event(
        self,
        row: int,
        response_ms: float | None,
        failure: str | None = None,
        bytes_in: int = 0,
        unsent: bool = False,
    ) -> None:
        """Count what a locustfile fired by itself; ValueError for a row that is not known."""
    def book(
        self,
        row: int,
        call: Call,
        response_ms: float | None,
        failure: str | None = None,
        is_status: bool = False,
    ) -> bool:
        """Count a request as Locust reported it; a stream that is still read, when it ends.

        False, and nothing counted, for a call that was counted before.
        """
    def abandon(self, row: int) -> None:
        """Count a request that was given up before it ended: it stays in flight."""
    def late(self, seconds: float) -> None:
        """Note how late a timer of this process rang."""
    def end(self) -> None:
        """End the test."""
    def sheet(self, in_flight: int = 0) -> bytes | None:
        """What was counted in the seconds that have passed, and after the end all of it.

        None when there is nothing. `in_flight` requests are open now.
        """

@final
class Gathering:
    """The sheets of all processes of one test, laid on each other by name and by second."""

    def __new__(
        cls, addresses: list[str] = ..., *, warmup_s: float = 0.0, apart: bool = False
    ) -> Self:
        """Begin with a test; `addresses` of the target are `IP:PORT`, else ValueError.

        The warm-up will last `warmup_s`, about; `apart` says that this process fires nothing.
        """
    def expect(self, process: str) -> None:
        """Wait for a process that will report."""
    def take(self, process: str, sheet: bytes) -> list[str]:
        """Take a sheet; the intervals that are whole now. ValueError when it cannot be read."""
    def take_from(self, process: str, ledger: Ledger, in_flight: int = 0) -> list[str]:
        """The same from a ledger of this process."""
    def users(self, now: int) -> None:
        """Note how many users there are; the most of them are the concurrency."""
    def end(self, *, interrupted: bool = False) -> list[str]:
        """End the test: the intervals that are left."""
    def level(self) -> str:
        """The level, complete after the end."""

def once(plan_json: str) -> str:
    """Send exactly one request; both sides of it."""

def fire() -> None:
    """Fire the part of a load that comes on the standard input; ends with it."""

def listen(spec_json: str) -> None:
    """Serve a port that other processes serve too, until the standard input ends.

    Says `listening` when it does, and at the end its counts as JSON: one line each.
    """

def statistics(values: list[int]) -> str:
    """Statistics of nanoseconds as `stats`, and their `histogram`, as in result.json."""

def version() -> str:
    """The version of the engine."""

def defects() -> list[tuple[str, str]]:
    """What can go wrong with the streams of a chat target: names and meanings."""

def read_toml(text: str) -> str:
    """TOML as JSON: its `value`, and under `lines` the line of each key by its dotted path.

    Raises ValueError whose text begins with the line and a colon.
    """

def faults() -> list[str]:
    """The names of the faults that a faulty target knows."""

def reasons() -> list[tuple[str, str]]:
    """Why an attempt can fail: the names of the reasons, and each in words."""

def messages() -> list[tuple[str, list[str]]]:
    """Return the codes of the messages in levels with their English, for one `{n}` and several."""

@final
class Reactor:
    """Connections of one thread; its descriptor is ready when it wants a turn."""

    def __new__(cls) -> Self: ...
    def fileno(self) -> int: ...
    def lane(
        self,
        addresses: Sequence[tuple[str, int]],
        tls: Tls | None = None,
        connect: bytes | None = None,
        most_idle: int = 10,
    ) -> Lane:
        """Connections to one of these addresses, kept for whoever holds the lane."""

    @property
    def unreported(self) -> int:
        """How many streams broke until now of which nothing was reported."""

    def turn(self, failed: Callable[[BaseException], object]) -> None:
        """Move whatever can be moved, then wake everybody who waited for it."""

@final
class Lane:
    """Connections to one destination, kept for who holds this."""

    def send(
        self,
        head: bytes,
        body: bytes,
        flags: int,
        connect_s: float | None,
        read_s: float | None,
        waiter: Callable[[], object],
    ) -> Call:
        """Begin an exchange; the waiter is called when there is news of it."""

@final
class Tls:
    """TLS to one name; ValueError names the file that is wrong."""

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
    """One exchange, held by who waits for it."""

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
        """The status of a plain answer or of a stream's head; 0: look closer, −1: there is none."""

    def piece(self, waiter: Callable[[], object]) -> bytes | None:
        """The next piece of a stream, empty at its end; None where the waiter will be called."""

    def abandon(self) -> None:
        """Close its connection since its greenlet was interrupted: no end of the request."""

    def cancel(self) -> None:
        """Close its connection, if it is under way; nobody is woken any more."""

    def head(self) -> tuple[int, int, str, list[tuple[str, str]]]:
        """Version (10, 11), status, reason, fields; ValueError where none came."""

    def raw(self) -> bytes:
        """All that was read of the head and with it, as it came."""

    def body(self) -> bytes:
        """The body of a call that is over, the first time."""

    def stamps(self) -> tuple[int, int, int, int, int]:
        """Asked, sent, first byte, last byte, ran again: monotonic ns, −1 where there is none."""

@final
class Counts:
    """Locust's own statistics, counted here until somebody looks at them."""

    def __new__(cls) -> Self: ...
    def add(self, number: int, milliseconds: float, length: int) -> None:
        """Count a request under a number."""

    def has_some(self) -> bool:
        """Whether something was counted since it was taken last."""

    def take(
        self,
    ) -> list[
        tuple[int, tuple[int, float, float, float, int, float, dict[int, int], dict[int, int]]]
    ]:
        """What was counted, by number: requests, sum, min, max, length, last, buckets, seconds."""
