"""How a server ended, and whether that was clean. It only judges; `server.py` stops."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.servers.failure import TrialError, ending
from torr.units import show_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.servers.failure import Kind


@dataclass(frozen=True, slots=True)
class Process:
    """A process as messages call it."""

    pid: int
    command: str

    def __str__(self) -> str:
        return f"{self.command} (pid {self.pid})"


@dataclass(frozen=True, slots=True)
class ServerExit:
    """The end of a server.

    `code` is that of its first process, negative for a signal, None when nobody saw it end.
    `stayed` are the processes that were still there a second after the first one had ended,
    `killed` those that needed SIGKILL, `left` those that even this did not end. `death` says that
    it had ended before it was asked to. `is_daemon`: its first process ended well long before,
    the others served.
    """

    name: str
    code: int | None
    stop_signal: int
    seconds: float
    signals: int
    stayed: tuple[Process, ...] = ()
    killed: tuple[Process, ...] = ()
    left: tuple[Process, ...] = ()
    death: TrialError | None = None
    is_daemon: bool = False
    dropped_bytes: int = 0
    log_tail: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether it ended as asked, and nothing of it stayed."""
        return self.failure() is None

    def failure(self) -> TrialError | None:
        """What was wrong with its end, if anything was."""
        if self.death is not None:
            return self.death
        if self.left:
            return self._error("left_behind", f"not even SIGKILL ended {_list(self.left)}")
        if self.killed and (self.is_daemon or not self.stayed):
            wanted = signal.Signals(self.stop_signal).name
            asked = show_count(self.signals, "time")
            return self._error(
                "did_not_stop",
                f"it was asked to stop {asked} by {wanted}, and had to be killed",
                "give it a longer grace, or another stop_signal",
            )
        if self.stayed:
            return self._error(
                "left_behind", f"it ended ({self._how()}) and left {_list(self.stayed)} running"
            )
        if self.code is not None and not is_clean_code(self.code, self.stop_signal):
            return self._error("died", f"asked to stop it ended with {self._how()}")
        return None

    def _how(self) -> str:
        return "unseen" if self.code is None else ending(self.code)

    def _error(self, kind: Kind, text: str, hint: str | None = None) -> TrialError:
        return TrialError(kind, f"{self.name}: {text}", hint, self.log_tail)


def is_clean_code(code: int, stop_signal: int) -> bool:
    """Whether a server that was asked to stop ended as servers do.

    0; the signal that stopped it, or that of Ctrl-C and of TERM, unhandled; and 128 + the number
    of the signal, as shells and the JVM say it.
    """
    signals = {stop_signal, signal.SIGTERM, signal.SIGINT}
    return code == 0 or -code in signals or code - 128 in signals


def _list(processes: Sequence[Process]) -> str:
    few = ", ".join(map(str, processes[:3]))
    return few if len(processes) <= 3 else f"{few} and {len(processes) - 3} more"
