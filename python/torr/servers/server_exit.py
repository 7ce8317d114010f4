"""The end of a server that `server.py` stopped, and whether it was clean."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.messages.message import Message, message, message_count
from torr.servers.failure import TrialError, describe_exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.servers.failure import Kind


@dataclass(frozen=True, slots=True)
class Process:
    """A process as messages show it."""

    pid: int
    command: str

    def __str__(self) -> str:
        return f"{self.command} (pid {self.pid})"


@dataclass(frozen=True, slots=True)
class ServerExit:
    """The end of a server.

    `code` is that of its first process, negative for a signal, None when its end was not observed.
    `survivors` are the processes that still ran a second after the first one had ended, `killed`
    those that needed SIGKILL, `unkillable` those that SIGKILL did not end. `unexpected_exit` is
    set if the server ended before the stop request. `is_daemon`: the first process had ended with
    exit code 0 long before, the others served.
    """

    name: str
    code: int | None
    stop_signal: int
    seconds: float
    signals: int
    survivors: tuple[Process, ...] = ()
    killed: tuple[Process, ...] = ()
    unkillable: tuple[Process, ...] = ()
    unexpected_exit: TrialError | None = None
    is_daemon: bool = False
    dropped_bytes: int = 0
    log_tail: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Return whether it ended as requested, with all its processes."""
        return self.failure() is None

    def failure(self) -> TrialError | None:
        """Return the error if the end was not clean; None if it was."""
        if self.unexpected_exit is not None:
            return self.unexpected_exit
        if self.unkillable:
            what = message(
                "trial.unkillable",
                "not even SIGKILL ended {processes}",
                processes=_list(self.unkillable),
            )
            return self._error("left_behind", what)
        if self.killed and (self.is_daemon or not self.survivors):
            what = message_count(
                "trial.killed",
                self.signals,
                "it was asked to stop {n:,} time by {signal}, and had to be killed",
                "it was asked to stop {n:,} times by {signal}, and had to be killed",
                signal=signal.Signals(self.stop_signal).name,
            )
            hint = message("hint.killed", "give it a longer grace, or another stop_signal")
            return self._error("did_not_stop", what, hint)
        if self.survivors:
            what = message(
                "trial.left_running",
                "it ended ({ending}) and left {processes} running",
                ending=self._exit_text(),
                processes=_list(self.survivors),
            )
            return self._error("left_behind", what)
        if self.code is not None and not is_clean_code(self.code, self.stop_signal):
            what = message(
                "trial.bad_end",
                "after the stop signal it ended with {ending}",
                ending=self._exit_text(),
            )
            return self._error("bad_end", what)
        return None

    def _exit_text(self) -> Message:
        return message("ending.unseen", "unseen") if self.code is None else describe_exit(self.code)

    def _error(self, kind: Kind, what: Message, hint: Message | None = None) -> TrialError:
        return TrialError(kind, self.name, what, hint, self.log_tail)


def is_clean_code(code: int, stop_signal: int) -> bool:
    """Return whether an exit code is normal for a server that was asked to stop.

    Normal are 0; death by the stop signal, SIGINT or SIGTERM; and 128 + the number of one of
    these signals, which shells and the JVM use.
    """
    signals = {stop_signal, signal.SIGTERM, signal.SIGINT}
    return code == 0 or -code in signals or code - 128 in signals


def _list(processes: Sequence[Process]) -> str:
    few = ", ".join(map(str, processes[:3]))
    return few if len(processes) <= 3 else f"{few} and {len(processes) - 3} more"
