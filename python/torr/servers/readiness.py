"""Wait until a server is ready: healthy, with as many workers as expected.

The first good response shows that one process is up, not that all are. So several connections are
opened at once until the expected number of processes has answered, or the time is over: then the
number that did is reported. A server that ends meanwhile is noticed at once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.http_client import Connection
from torr.messages.message import Message, message
from torr.model.request import Request
from torr.servers.acceptors import answering_processes
from torr.servers.answer import fetch_digest
from torr.servers.failure import EndedEarly, TrialError, describe_exit
from torr.units import SECOND_NS, format_duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.servers.command import Command
    from torr.servers.server import Server

WORKERS_S = 10.0
"""The time for workers to answer, after the first good response."""

_TRY_S = 5.0
_PAUSE_S = 0.02
_CONNECTIONS_A_WORKER = 6


@dataclass(frozen=True, slots=True)
class Ready:
    """A server that is ready: seconds from its start, and the processes that answered.

    `workers` is None where one was asked for, or where processes cannot be told apart.
    """

    ready_s: float
    asked: int
    workers: tuple[int, ...] | None

    @property
    def is_complete(self) -> bool:
        """Return whether as many workers answered as were asked for."""
        return self.asked == 1 or (self.workers is not None and len(self.workers) >= self.asked)

    @property
    def sentence(self) -> Message:
        """Return a sentence for the report: how many workers answered, and when."""
        if self.workers is None:
            return message(
                "ready.workers_unseen",
                "ready after {seconds:.2f} s; which workers answer cannot be seen",
                seconds=self.ready_s,
            )
        return message(
            "ready.workers",
            "{answered} of {asked} workers answered after {seconds:.2f} s",
            answered=len(self.workers),
            asked=self.asked,
            seconds=self.ready_s,
        )


def await_ready(
    server: Server, workers_s: float = WORKERS_S, is_over: Callable[[], bool] = lambda: False
) -> Ready:
    """Wait until a server is ready; raise TrialError (did_not_start, not_ready) if not.

    `is_over` is called between two tries; EndedEarly is raised when it returns true.
    """
    _await_health(server, is_over)
    workers = _await_workers(server, workers_s, is_over)
    return Ready(time.monotonic() - server.started, _asked(server), workers)


def _await_health(server: Server, is_over: Callable[[], bool]) -> None:
    """Request the health path until the response is good (200–399), or connect if there is none."""
    command = server.command
    deadline = server.started + command.health_timeout_s
    last = message("trial.no_listener", "nothing listens")
    while (rest := deadline - time.monotonic()) > 0:
        try:
            status = _health_status(command, min(rest, _TRY_S))
            if status is None or status < 400:
                return
            last = message("trial.answered", "it answered {status}", status=status)
        except (ConnectionRefusedError, FileNotFoundError):
            pass
        except OSError as error:
            last = message(
                "trial.last_try",
                "the last try ended with {error}",
                error=str(error) or type(error).__name__,
            )
        _wait(server, is_over)
    limit = format_duration(round(command.health_timeout_s * SECOND_NS))
    raise TrialError(
        "not_ready",
        command.name,
        message(
            "trial.not_healthy",
            "not healthy within {limit}: {last} at {url}",
            limit=limit,
            last=last,
            url=command.parsed_url.at(command.health),
        ),
        message("hint.not_healthy", "look at its log, correct health or url, or give it longer"),
        server.log_tail(),
    )


def _health_status(command: Command, within_s: float) -> int | None:
    """Return the status of the health path; None if there is no path, and a connection opened."""
    if not command.health:
        with Connection(command.parsed_url, within_s, verify=False):
            return None
    request = Request(url=command.parsed_url.at(command.health), template=False)
    return fetch_digest(request, within_s, check_reuse=False).status


def _await_workers(
    server: Server, workers_s: float, is_over: Callable[[], bool]
) -> tuple[int, ...] | None:
    """Return the processes that answered, once they are enough or the time is over."""
    command, asked = server.command, _asked(server)
    if asked == 1 or command.port is None or command.parsed_url.scheme != "http":
        return None
    url, seen = command.parsed_url, set[int]()
    deadline = time.monotonic() + workers_s
    while True:
        pids = server.pids()
        seen |= answering_processes(url, command.port, pids, _CONNECTIONS_A_WORKER * asked)
        seen &= set(server.pids())
        if len(seen) >= asked or time.monotonic() > deadline:
            return tuple(sorted(seen)) or None
        _wait(server, is_over)


def _asked(server: Server) -> int:
    return server.command.workers or 1


def _wait(server: Server, is_over: Callable[[], bool]) -> None:
    """Wait for a moment; raise TrialError if the server ended before it was ready."""
    if is_over():
        raise EndedEarly
    if server.wait(_PAUSE_S):
        return
    command, code = server.command, server.exit_code
    if code is None:
        what = message("trial.watcher_killed", "its watcher was killed before it was ready")
        raise TrialError("did_not_start", command.name, what, None, server.log_tail())
    raise TrialError(
        "did_not_start",
        command.name,
        message(
            "trial.ended_before_ready",
            "it ended with {ending} before it was ready",
            ending=describe_exit(code),
        ),
        message(
            "hint.run_by_hand",
            "run it by hand in {folder}: {command}",
            folder=str(command.cwd),
            command=str(command),
        ),
        server.log_tail(),
    )
