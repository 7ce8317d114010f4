"""How a trial can fail before it measured, or because it could not: outcomes, not crashes.

    not_found      the command is not there            did_not_start  it is, and could not be run
    port_taken     somebody listens there already      died           it ended by itself
    not_ready      no good answer in time              wrong_answer   it answered something else
    did_not_stop   it had to be killed                 left_behind    something of it stayed

Whoever runs a matrix catches TrialError, keeps what it says and goes on. Uncaught it ends torr as
any server that did not start does. Nothing is tried again here.
"""

from __future__ import annotations

from typing import Literal

from torr.errors import NothingMeasuredError

Kind = Literal[
    "not_found",
    "did_not_start",
    "port_taken",
    "died",
    "not_ready",
    "wrong_answer",
    "did_not_stop",
    "left_behind",
]


class EndedEarly(Exception):  # noqa: N818 - it is no error
    """Somebody wants it over while a server was waited for: no outcome of the server's."""


class TrialError(NothingMeasuredError):
    """What went wrong with a server; `log_tail` holds the last lines that it printed."""

    def __init__(
        self, kind: Kind, message: str, hint: str | None = None, log_tail: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.log_tail = log_tail

    def __str__(self) -> str:
        said = "".join(f"\n  | {line}" for line in self.log_tail)
        return f"{super().__str__()}{said}"


def ending(code: int) -> str:
    """How a process ended, in words: `exit code 3`, `signal 9 (SIGKILL)`."""
    import signal

    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"
