"""The errors with which the trial of a server can fail.

    not_found      the command does not exist          did_not_start  it exists, but cannot be run
    port_taken     another process listens there       died           it ended by itself
    not_ready      no good response in time              wrong_answer   another answer, or none
    did_not_stop   it had to be killed                 left_behind    processes or files remain
    bad_end        it was stopped and ended badly      before_failed  a command before it failed

A matrix records a TrialError as the outcome of the trial and continues. Uncaught, it ends torr like
any error because of which nothing was measured.
"""

from __future__ import annotations

from typing import Literal

from torr.errors import NothingMeasuredError
from torr.messages.message import Message, message
from torr.messages.say import changed

Kind = Literal[
    "not_found",
    "did_not_start",
    "port_taken",
    "died",
    "not_ready",
    "wrong_answer",
    "did_not_stop",
    "bad_end",
    "left_behind",
    "before_failed",
]


class EndedEarly(Exception):  # noqa: N818 - not an error
    """The user ended the run while torr waited for a server; not an outcome of the server."""


class TrialError(NothingMeasuredError):
    """The failure of a server; `log_tail` has the last lines of its output."""

    def __init__(
        self,
        kind: Kind,
        name: str,
        what: Message,
        hint: Message | None = None,
        log_tail: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message("trial.failure", "{name}: {what}", name=name, what=what), hint)
        self.kind = kind
        self.log_tail = log_tail

    @property
    def text(self) -> str:
        """The message, the hint and the last lines of the output."""
        return changed(super().text, lambda written: "\n  | ".join((written, *self.log_tail)))


def describe_exit(code: int) -> Message:
    """Return how a process ended: `exit code 3`, `signal 9 (SIGKILL)`."""
    import signal

    if code >= 0:
        return message("ending.code", "exit code {code}", code=code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        return message("ending.unnamed_signal", "signal {number}", number=-code)
    return message("ending.signal", "signal {number} ({name})", number=-code, name=name)
