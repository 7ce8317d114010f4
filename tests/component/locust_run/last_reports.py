"""Have Locust's master wait for the last reports of its workers, on a busy machine too.

Locust waits for half a second, and counts without those that come later.
"""

from __future__ import annotations

import time

import gevent
from locust import events, runners

LOCUSTS_WAIT_S = 0.5
TIMEOUT_S = 30.0


class WaitingGevent:
    """gevent, but for the wait of a master that quits."""

    def __init__(self, runner):
        self._runner = runner

    def __getattr__(self, name):
        return getattr(gevent, name)

    def sleep(self, seconds=0):
        """Sleep; at the end of a test until each worker has quit or is missing."""
        if seconds != LOCUSTS_WAIT_S:
            gevent.sleep(seconds)
            return
        end = time.monotonic() + TIMEOUT_S
        while self._is_awaited() and time.monotonic() < end:
            gevent.sleep(0.02)

    def _is_awaited(self):
        clients = self._runner.clients.values()
        return any(client.state != runners.STATE_MISSING for client in clients)


@events.init.add_listener
def wait_for_workers(runner, **_more):
    if isinstance(runner, runners.MasterRunner):
        runners.gevent = WaitingGevent(runner)
