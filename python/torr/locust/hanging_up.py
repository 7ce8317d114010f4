"""SIGHUP, which a closed terminal sends, ends a test of Locust as SIGTERM does.

Locust itself hears SIGTERM and SIGINT only.
"""

from __future__ import annotations

import os
import signal

import gevent


class HangUp:
    """Passes SIGHUP on as SIGTERM; `is_heard` says whether one came."""

    def __init__(self) -> None:
        self.is_heard = False

    def listen(self) -> None:
        """Hear SIGHUP from now on, unless it is ignored, as under nohup."""
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            gevent.signal_handler(signal.SIGHUP, self._hear)

    def _hear(self) -> None:
        if not self.is_heard:
            self.is_heard = True
            os.kill(os.getpid(), signal.SIGTERM)
