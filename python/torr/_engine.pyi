"""The compiled engine. Only torr.engine and torr.targets import it; texts are JSON."""

from typing import final

from typing_extensions import Self

__all__ = [
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
