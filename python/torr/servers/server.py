"""A server under test, held by a watcher: started, looked at, stopped by id with all its tree.

    with Server.start(command, scratch, log) as server:
        await_ready(server)
        ...
        server.check()
        stopped = server.stop()

It is stopped however the block ends. That it answers is for `readiness.py` to find out; what it
left on the disk and on the network, for `leftovers.py`.
"""

from __future__ import annotations

import os
import secrets
import time
from typing import TYPE_CHECKING, Any

from torr.errors import OutputError
from torr.procfs.process import command_of
from torr.procfs.stat import is_running
from torr.procfs.tree import children, descendants
from torr.servers import log_file, orphans
from torr.servers.failure import TrialError, ending
from torr.servers.ports import check_free
from torr.servers.server_exit import Process, ServerExit
from torr.servers.starting import not_started, spec
from torr.servers.watcher_process import WatcherProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typing_extensions import Self

    from torr.servers.command import Command

_STARTING_S = 10.0
_ENDING_S = 8.0
_LOOK_S = 0.1
_STAYING_S = 1.0
"""How long the rest of the tree may take after its first process has ended."""


class Server:
    """A running server; `started` is a reading of time.monotonic(), `pid` its first process."""

    def __init__(self, command: Command, log: Path, watch: WatcherProcess, token: str) -> None:
        self.command = command
        self.log = log
        self.started = time.monotonic()
        self.pid: int | None = None
        self.without_cgroup: str | None = None
        # Whether somebody waits no longer: then it has no grace.
        self.is_urgent: Callable[[], bool] = lambda: False
        self._cgroup: str | None = None
        self._session: orphans.ProcessSession | None = None
        self._watch = watch
        self._token = token
        self._code: int | None = None
        self._is_gone = False
        self._failure: TrialError | None = None
        self._last: dict[str, Any] | None = None
        self._is_asked = False
        self._death: TrialError | None = None
        self._stopped: ServerExit | None = None

    @classmethod
    def start(cls, command: Command, scratch: Path, log: Path) -> Server:
        """Start a filled command, with `scratch` as its TMPDIR and its output in `log`.

        Raises TrialError (port_taken, not_found, did_not_start), OutputError when the log cannot
        be written.
        """
        check_free(command.port, command.name)
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o600))
        except OSError as error:
            raise OutputError(f"{log}: cannot be written: {error.strerror or error}") from error
        token = secrets.token_hex(8)
        try:
            watch = WatcherProcess(spec(command, scratch, log, token), log)
        except OSError as error:
            text = f"{command.name}: its watcher cannot be started: {error.strerror or error}"
            raise TrialError("did_not_start", text) from error
        server = cls(command, log, watch, token)
        try:
            server._await_start()
        except BaseException:
            server._finish()
            raise
        return server

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    @property
    def watcher_pid(self) -> int:
        """The process that holds it, which is none of the server's."""
        return self._watch.pid

    @property
    def exit_code(self) -> int | None:
        """How its first process ended, negative for a signal; None before, or when unseen."""
        return self._code

    @property
    def is_daemon(self) -> bool:
        """Whether its first process ended well and others serve: it forks and leaves."""
        return self._code == 0 and not self._is_gone

    def pids(self) -> list[int]:
        """Everything of it that runs, parents before children, wherever it forked to."""
        if not self._watch.is_over:
            return descendants(self._watch.pid)
        if self._last is None:
            return orphans.remaining(self._token, self._session, self._cgroup)
        return []

    def tops(self) -> list[int]:
        """Those of `pids` that none of the others began: cheap enough to be asked every second."""
        return self.pids() if self._watch.is_over else children(self._watch.pid)

    def wait(self, timeout_s: float) -> bool:
        """Wait, but no longer than it lives; whether it does."""
        deadline = time.monotonic() + timeout_s
        while self.death() is None and (rest := deadline - time.monotonic()) > 0:
            self._hear(rest)
        return self.death() is None

    def check(self) -> None:
        """Raise TrialError (died) with the tail of its log if it has ended, or its watcher."""
        death = self.death()
        if death is not None:
            raise death

    def death(self) -> TrialError | None:
        """How it ended without being asked to, if it did."""
        if self._is_asked:
            return self._death
        self._hear(0)
        name, tail = self.command.name, self.log_tail
        if self._watch.is_over:
            return TrialError("died", f"{name}: somebody ended its watcher", log_tail=tail())
        if self._code is None or self.is_daemon:
            return None
        return TrialError("died", f"{name}: it ended by itself: {ending(self._code)}", None, tail())

    def log_tail(self, lines: int = 20) -> tuple[str, ...]:
        """The last lines that it printed."""
        return log_file.tail(self.log, lines)

    def stop(self) -> ServerExit:
        """Stop it: signal, wait, signal all of it, wait, SIGKILL. The second call does nothing."""
        if self._stopped is None:
            began = time.monotonic()
            self._death, is_daemon = self.death(), self.is_daemon
            self._is_asked = True
            try:
                signals, stayed = self._ask()
            finally:
                last = self._finish()
            self._stopped = ServerExit(
                name=self.command.name,
                code=self._code,
                stop_signal=self.command.stop_signal,
                seconds=time.monotonic() - began,
                signals=signals,
                stayed=stayed,
                killed=_processes(last["killed"]),
                left=_processes(last["left"]),
                death=self._death,
                is_daemon=is_daemon,
                dropped_bytes=last["dropped"],
                log_tail=self.log_tail(),
            )
        return self._stopped

    def _ask(self) -> tuple[int, tuple[Process, ...]]:
        """Signal at most twice; how often it was, and who stayed after the first had ended."""
        number, grace = self.command.stop_signal, self.command.grace_s
        if self._is_gone or self._watch.is_over:
            return 0, ()
        self._watch.order(f"signal {number}")
        if self._await_end(grace):
            return 1, ()
        stayed = self.pids() if self._code is not None and not self.is_daemon else []
        processes = _processes([(pid, command_of(pid)) for pid in stayed])
        self._watch.order(f"signal {number} all")
        self._await_end(min(grace, _STAYING_S))
        return 2, processes

    def _await_end(self, grace_s: float) -> bool:
        """Wait until nobody is left; less long once the first process has ended."""
        deadline = time.monotonic() + grace_s
        had_ended = self._code is not None
        while (
            not (self._is_gone or self._watch.is_over)
            and (rest := deadline - time.monotonic()) > 0
            and not self.is_urgent()
        ):
            self._hear(min(rest, _LOOK_S))
            if self._code is not None and not had_ended:
                had_ended = True
                deadline = min(deadline, time.monotonic() + _STAYING_S)
        return self._is_gone

    def _finish(self) -> dict[str, Any]:
        """Have everything killed and the watcher ended; its last report, or what stands for it."""
        self._watch.order("end")
        deadline = time.monotonic() + _ENDING_S
        while not self._watch.is_over and (rest := deadline - time.monotonic()) > 0:
            self._hear(rest)
        self._watch.close()
        if self._last is None:
            killed = orphans.killed(self._token, self._session, self._cgroup)
            self._last = {
                "killed": list(killed.items()),
                "left": [(pid, killed[pid]) for pid in killed if is_running(pid)],
                "dropped": 0,
            }
        return self._last

    def _await_start(self) -> None:
        """Wait until the command runs; raises TrialError when it does not."""
        deadline = time.monotonic() + _STARTING_S
        while self.pid is None and not self._watch.is_over and time.monotonic() < deadline:
            self._hear(deadline - time.monotonic())
        if self._failure is not None:
            raise self._failure
        if self.pid is None:
            text = f"{self.command.name}: its watcher did not start"
            raise TrialError("did_not_start", text, log_tail=self.log_tail())

    def _hear(self, timeout_s: float) -> None:
        """Take in what the watcher reported."""
        for report in self._watch.reports(timeout_s):
            event = report["event"]
            if event == "started":
                self.pid = report["pid"]
                self._session = orphans.ProcessSession.of(report["pid"])
                self._cgroup, self.without_cgroup = report["cgroup"], report["without_cgroup"]
            elif event == "failed":
                self._failure = not_started(self.command, report["step"], report["errno"])
            elif event == "exited":
                self._code = report["code"]
            elif event == "gone":
                self._is_gone = True
            elif event == "ended":
                self._last = report


def _processes(found: list[tuple[int, str]]) -> tuple[Process, ...]:
    return tuple(Process(pid, command) for pid, command in found)
