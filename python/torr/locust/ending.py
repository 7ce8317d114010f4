"""End Locust's process once, on SIGHUP as on SIGTERM.

Locust handles SIGTERM and SIGINT only. It handles SIGTERM in a greenlet, which ends the runner;
then the main greenlet ends everything again, while the first one waits for workers. A master's
`quit` is called two or three times, and waits half a second for the workers each time.

"""

from __future__ import annotations

import os
import signal
from functools import wraps
from typing import TYPE_CHECKING, Any

import gevent
from gevent.event import Event

if TYPE_CHECKING:
    from locust.env import Environment
    from locust.runners import MasterRunner

_POLL_S = 0.05


class Ending:
    """Handles the signals that end this process; `is_hung_up` tells whether SIGHUP came."""

    def __init__(self) -> None:
        self.is_hung_up = False
        self._first: Any = None

    def listen(self, environment: Environment) -> None:
        """Listen to Locust's end, and to SIGHUP unless it is ignored, as under nohup."""
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            gevent.signal_handler(signal.SIGHUP, self._hang_up)
        environment.events.quitting.add_listener(self._end)

    def _hang_up(self) -> None:
        if not self.is_hung_up:
            self.is_hung_up = True
            os.kill(os.getpid(), signal.SIGTERM)

    def _end(self, **_more: object) -> None:
        """Let the first greenlet that came here end the process, and this one with it."""
        current = gevent.getcurrent()
        self._first = self._first or current
        while self._first is not current and not self._first.dead:
            gevent.sleep(_POLL_S)


def quit_once(runner: MasterRunner) -> None:
    """Make a second call of the master's `quit` wait for the end of the first."""
    original = runner.quit
    first: list[gevent.Greenlet] = []
    ended = Event()

    @wraps(original)
    def quit_() -> None:
        current = gevent.getcurrent()
        if first and first[0] is not current:
            ended.wait()
        elif not ended.is_set():
            first.append(current)
            try:
                original()
            finally:
                ended.set()

    runner.quit = quit_
