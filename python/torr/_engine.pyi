"""The compiled engine, which only its doors import; texts are JSON."""

from typing import final

from typing_extensions import Self

__all__ = [
    "Gathering",
    "Ledger",
    "Run",
    "Target",
    "defects",
    "faults",
    "fire",
    "listen",
    "merge",
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
    def next_slice(self, timeout_s: float) -> str | None:
        """The next slice, or None when none came in time or all were handed out."""
    def done(self) -> bool:
        """Whether all slices were handed out and the level is ready."""
    def stop(self) -> None:
        """End the measured window now; what is open is awaited up to the drain time."""
    def abort(self) -> None:
        """End at once; what is open counts as in flight."""
    def level(self) -> str:
        """The measured level; RuntimeError while it runs."""
    def summary(self) -> bytes:
        """The mergeable summary, versioned."""

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
    def book_event(
        self, row: int, response_ms: float | None, failure: str | None = None, bytes_in: int = 0
    ) -> None:
        """Count what a locustfile fired by itself; ValueError for a row that is not known."""
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
        """Take a sheet; the slices that are whole now. ValueError when it cannot be read."""
    def take_from(self, process: str, ledger: Ledger, in_flight: int = 0) -> list[str]:
        """The same from a ledger of this process."""
    def users(self, now: int) -> None:
        """Note how many users there are; the most of them are the concurrency."""
    def warn(self, text: str) -> None:
        """Add what a reader of the level must know."""
    def end(self, *, interrupted: bool = False) -> list[str]:
        """End the test: the slices that are left."""
    def level(self) -> str:
        """The level, complete after the end."""
    def summary(self) -> bytes:
        """The mergeable summary, versioned."""

def once(plan_json: str) -> str:
    """Send exactly one request; both sides of it."""

def merge(summaries: list[bytes]) -> str:
    """The level of several summaries."""

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
