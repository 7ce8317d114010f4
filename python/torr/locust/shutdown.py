"""Shut down Locust's process once, on SIGHUP and on SIGTERM.

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
    from collections.abc import Callable

    from locust.env import Environment
    from locust.runners import MasterRunner

_POLL_S = 0.05


class ShutdownHandler:
    """Handles the signals that end this process; `received_sighup` tells whether SIGHUP came."""

    def __init__(self) -> None:
        self.received_sighup = False
        self._ending_greenlet: Any = None

    def listen(self, environment: Environment) -> None:
        """Listen to Locust's end, and to SIGHUP unless it is ignored, as under nohup."""
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            gevent.signal_handler(signal.SIGHUP, self._on_sighup)
        environment.events.quitting.add_listener(self._on_quitting)

    def _on_sighup(self) -> None:
        if not self.received_sighup:
            self.received_sighup = True
            os.kill(os.getpid(), signal.SIGTERM)

    def _on_quitting(self, **_more: object) -> None:
        """Wait while another greenlet that called this first is ending the process."""
        current = gevent.getcurrent()
        self._ending_greenlet = self._ending_greenlet or current
        while self._ending_greenlet is not current and not self._ending_greenlet.dead:
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


def wait_before_kill(runner: MasterRunner, wait: Callable[[], None]) -> None:
    """Call `wait` before the master's `quit` kills the greenlet that receives reports.

    Locust itself gives workers half a second for their last reports, however busy the machine is.
    """
    original = runner.greenlet.kill

    @wraps(original)
    def kill(*arguments: Any, **options: Any) -> None:
        wait()
        original(*arguments, **options)

    runner.greenlet.kill = kill
