"""What `torr compare` adds to a server's own time: its protocol without load, and the server alone.

Alone, a server is started and asked until it answers, then told to stop and waited for. Beside it
stands the same server in a trial's steps: port, watcher, readiness, check, stop, leftovers.
"""

from __future__ import annotations

import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from torr.model.request import Request
from torr.servers.answer import fetch_digest
from torr.servers.command import Command
from torr.servers.leftovers import leftovers, snapshot
from torr.servers.readiness import await_ready
from torr.servers.reservation import reserve
from torr.servers.server import Server
from truth.matrices import SERVER, answer_s, free_port
from truth.row import Round, Value

BAR = "start, check and stop ≤ 1.5 s beyond the server's own time"

_TIMES = 7
_TURNS = "0"


def measure(_seconds: int) -> Round:
    """The median of what a trial's steps take beyond the server's own start and stop."""
    pairs = [(in_a_trial_s(), alone_s()) for _ in range(_TIMES)]
    beyond = [trial - alone for trial, alone in pairs]
    return Round(
        {"s beyond": Value(max(statistics.median(beyond), 0.0), 0, 1.5)},
        {"most": max(beyond), "alone, s": statistics.median(alone for _, alone in pairs)},
    )


def in_a_trial_s() -> float:
    """Seconds of all that a trial does but the load."""
    began = time.monotonic()
    with (
        reserve() as here,
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as logs,
    ):
        command = Command(
            argv=(sys.executable, str(SERVER), str(here.port), _TURNS),
            url=f"http://127.0.0.1:{here.port}/",
            cwd=Path(folder),
        )
        before = snapshot(command.cwd)
        with Server.start(command, here.scratch, Path(logs) / "server.log") as server:
            await_ready(server)
            fetch_digest(Request(command.url))
            server.check()
        stopped = server.stop()
        left = leftovers(stopped, command.port, before)
        failure = stopped.failure() or left.failure(command.name, stopped.log_tail)
    if failure is not None:
        raise failure
    return time.monotonic() - began


def alone_s() -> float:
    """Seconds from the same server's start to its first response, and from its end to its exit."""
    port = free_port()
    began = time.monotonic()
    with subprocess.Popen([sys.executable, str(SERVER), str(port), _TURNS]) as process:
        answer_s(port)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)
    return time.monotonic() - began
