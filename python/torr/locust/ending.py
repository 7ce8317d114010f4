"""How Locust's process ends: at SIGHUP as at SIGTERM, and once.

Locust hears SIGTERM and SIGINT only. It hears SIGTERM in a greenlet, which ends the runner, which
makes the main greenlet end everything again, while the first one waits for workers. A master's
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

_LOOK_S = 0.05


class Ending:
    """Listens to what ends this process; `is_hung_up` says whether SIGHUP came."""

    def __init__(self) -> None:
        self.is_hung_up = False
        self._first: Any = None

    def listen(self, environment: Environment) -> None:
        """Hear SIGHUP from now on, unless it is ignored, as under nohup, and Locust's end."""
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            gevent.signal_handler(signal.SIGHUP, self._hang_up)
        environment.events.quitting.add_listener(self._end)

    def _hang_up(self) -> None:
        if not self.is_hung_up:
            self.is_hung_up = True
            os.kill(os.getpid(), signal.SIGTERM)

    def _end(self, **_more: object) -> None:
        """Let the greenlet that came first end the process, which ends this one, too."""
        current = gevent.getcurrent()
        self._first = self._first or current
        while self._first is not current and not self._first.dead:
            gevent.sleep(_LOOK_S)


def quit_once(runner: MasterRunner) -> None:
    """Have a second call of the master's `quit` wait for the end of the first, and do nothing."""
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
