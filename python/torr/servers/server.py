"""Start a server under a watcher, observe it, and stop it with its whole process tree.

    with Server.start(command, scratch, log) as server:
        await_ready(server)
        ...
        server.check()
        stopped = server.stop()

It is stopped however the block ends. `readiness.py` waits until it answers; `leftovers.py` finds
what it left on the disk and on the network.
"""

from __future__ import annotations

import os
import secrets
import time
from typing import TYPE_CHECKING

from torr.errors import OutputError
from torr.messages.message import message
from torr.messages.say import say
from torr.procfs.process import command_of
from torr.procfs.stat import is_running
from torr.procfs.tree import children, descendants
from torr.servers import log_file, orphans
from torr.servers.failure import TrialError, describe_exit
from torr.servers.ports import check_free, check_socket_free
from torr.servers.server_exit import Process, ServerExit
from torr.servers.starting import not_started, spec
from torr.servers.watcher_process import WatcherProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typing_extensions import Self

    from torr.model.json import JsonObject
    from torr.servers.command import Command

_STARTING_S = 10.0
_ENDING_S = 8.0
_POLL_S = 0.1
_REMAINDER_S = 1.0
"""The time for the rest of the tree to end after its first process."""


class Server:
    """A running server; `started` is a reading of time.monotonic(), `pid` its first process."""

    def __init__(self, command: Command, log: Path, watch: WatcherProcess, token: str) -> None:
        self.command = command
        self.log = log
        self.started = time.monotonic()
        self.pid: int | None = None
        self.without_cgroup: str | None = None
        # When this returns true, the user wants torr to end at once: the server gets no grace.
        self.is_urgent: Callable[[], bool] = lambda: False
        self._cgroup: str | None = None
        self._session: orphans.ProcessSession | None = None
        self._watch = watch
        self._token = token
        self._code: int | None = None
        self._tree_ended = False
        self._failure: TrialError | None = None
        self._final_report: JsonObject | None = None
        self._stop_requested = False
        self._unexpected_exit: TrialError | None = None
        self._stopped: ServerExit | None = None

    @classmethod
    def start(cls, command: Command, scratch: Path, log: Path) -> Server:
        """Start a filled command, with `scratch` as its TMPDIR and its output in `log`.

        Raises TrialError (port_taken, not_found, did_not_start), OutputError when the log cannot
        be written.
        """
        check_free(command.port, command.name)
        check_socket_free(command.parsed_url.socket, command.name)
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o600))
        except OSError as error:
            raise OutputError(
                say("{log}: cannot be written: {error}", log=log, error=error.strerror or error)
            ) from error
        token = secrets.token_hex(8)
        try:
            watch = WatcherProcess(spec(command, scratch, log, token), log)
        except OSError as error:
            what = message(
                "trial.no_watcher",
                "its watcher cannot be started: {error}",
                error=error.strerror or str(error),
            )
            raise TrialError("did_not_start", command.name, what) from error
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
        """Return the pid of the watcher, which is not a process of the server."""
        return self._watch.pid

    @property
    def exit_code(self) -> int | None:
        """Return the first process's exit code, negative for a signal; None while unknown."""
        return self._code

    @property
    def is_daemon(self) -> bool:
        """Return whether the first process forked others that serve, and ended with exit code 0."""
        return self._code == 0 and not self._tree_ended

    def pids(self) -> list[int]:
        """Return the pids of all its running processes, parents before children."""
        if not self._watch.is_over:
            return descendants(self._watch.pid)
        if self._final_report is None:
            return orphans.marked_pids(self._token, self._session, self._cgroup)
        return []

    def root_pids(self) -> list[int]:
        """Return those of `pids` whose parent is not one of them; cheap enough for every second."""
        return self.pids() if self._watch.is_over else children(self._watch.pid)

    def wait(self, timeout_s: float) -> bool:
        """Wait until the time is over or the server ends; return whether it still runs."""
        deadline = time.monotonic() + timeout_s
        while self.unexpected_exit() is None and (rest := deadline - time.monotonic()) > 0:
            self._read_reports(rest)
        return self.unexpected_exit() is None

    def check(self) -> None:
        """Raise TrialError (died) with the tail of its log if it or its watcher has ended."""
        if (error := self.unexpected_exit()) is not None:
            raise error

    def unexpected_exit(self) -> TrialError | None:
        """Return the error (died) if the server ended without a stop request; None if not."""
        if self._stop_requested:
            return self._unexpected_exit
        self._read_reports(0)
        name, tail = self.command.name, self.log_tail
        if self._watch.is_over:
            what = message("trial.watcher_ended", "another process ended its watcher")
            return TrialError("died", name, what, None, tail())
        if self._code is None or self.is_daemon:
            return None
        what = message(
            "trial.ended", "it ended by itself: {ending}", ending=describe_exit(self._code)
        )
        return TrialError("died", name, what, None, tail())

    def log_tail(self, lines: int = 20) -> tuple[str, ...]:
        """Return the last lines of its output."""
        return log_file.tail(self.log, lines)

    def stop(self) -> ServerExit:
        """Stop it: signal, wait, signal the whole tree, wait, SIGKILL; later calls do nothing."""
        if self._stopped is None:
            began = time.monotonic()
            self._unexpected_exit, is_daemon = self.unexpected_exit(), self.is_daemon
            self._stop_requested = True
            try:
                signals, survivors = self._send_stop_signals()
            finally:
                final = self._finish()
            self._stopped = ServerExit(
                name=self.command.name,
                code=self._code,
                stop_signal=self.command.stop_signal,
                seconds=time.monotonic() - began,
                signals=signals,
                survivors=survivors,
                killed=_processes(final["killed"]),
                unkillable=_processes(final["left"]),
                unexpected_exit=self._unexpected_exit,
                is_daemon=is_daemon,
                dropped_bytes=final["dropped"],
                log_tail=self.log_tail(),
            )
        return self._stopped

    def _send_stop_signals(self) -> tuple[int, tuple[Process, ...]]:
        """Send the stop signal once or twice; return how often, and what outlived the first."""
        number, grace = self.command.stop_signal, self.command.grace_s
        if self._tree_ended or self._watch.is_over:
            return 0, ()
        self._watch.order(f"signal {number}")
        if self._await_end(grace):
            return 1, ()
        survivors = self.pids() if self._code is not None and not self.is_daemon else []
        processes = _processes([(pid, command_of(pid)) for pid in survivors])
        self._watch.order(f"signal {number} all")
        self._await_end(min(grace, _REMAINDER_S))
        return 2, processes

    def _await_end(self, grace_s: float) -> bool:
        """Wait until no process is left; for a shorter time once the first one has ended."""
        deadline = time.monotonic() + grace_s
        had_ended = self._code is not None
        while (
            not (self._tree_ended or self._watch.is_over)
            and (rest := deadline - time.monotonic()) > 0
            and not self.is_urgent()
        ):
            self._read_reports(min(rest, _POLL_S))
            if self._code is not None and not had_ended:
                had_ended = True
                deadline = min(deadline, time.monotonic() + _REMAINDER_S)
        return self._tree_ended

    def _finish(self) -> JsonObject:
        """Kill what is left, end the watcher and return its final report, or a substitute."""
        self._watch.order("end")
        deadline = time.monotonic() + _ENDING_S
        while not self._watch.is_over and (rest := deadline - time.monotonic()) > 0:
            self._read_reports(rest)
        self._watch.close()
        if self._final_report is None:
            killed = orphans.kill_marked(self._token, self._session, self._cgroup)
            self._final_report = {
                "killed": list(killed.items()),
                "left": [(pid, killed[pid]) for pid in killed if is_running(pid)],
                "dropped": 0,
            }
        return self._final_report

    def _await_start(self) -> None:
        """Wait until the command runs; raise TrialError if it does not."""
        deadline = time.monotonic() + _STARTING_S
        while self.pid is None and not self._watch.is_over and time.monotonic() < deadline:
            self._read_reports(deadline - time.monotonic())
        if self._failure is not None:
            raise self._failure
        if self.pid is None:
            what = message("trial.watcher_not_started", "its watcher did not start")
            raise TrialError("did_not_start", self.command.name, what, None, self.log_tail())

    def _read_reports(self, timeout_s: float) -> None:
        """Update the state from the reports of the watcher."""
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
                self._tree_ended = True
            elif event == "ended":
                self._final_report = report


def _processes(commands: list[tuple[int, str]]) -> tuple[Process, ...]:
    return tuple(Process(pid, command) for pid, command in commands)
