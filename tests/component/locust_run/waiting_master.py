"""Have Locust's master wait for its workers as long as a busy machine needs.

Locust's master takes a worker for lost that was silent for three seconds, and stops the test when
it hears of none. At the end it waits for half a second, and counts without reports that come later.
And its run time begins before its users do: with $TEST_TIME_S, a test ends that time after all of
them have begun, and not before each worker has reported a request.
"""

from __future__ import annotations

import os
import time

import gevent
import psutil
from locust import events, runners

LOCUSTS_WAIT_S = 0.5
TIMEOUT_S = 30.0


class WaitingGevent:
    """Replace the sleep of a master that quits; everything else is gevent's."""

    def __init__(self, runner):
        self._runner = runner

    def __getattr__(self, name):
        return getattr(gevent, name)

    def sleep(self, seconds=0):
        """Sleep; at the end of a test until each worker that still runs has quit."""
        if seconds != LOCUSTS_WAIT_S:
            gevent.sleep(seconds)
            return
        end = time.monotonic() + TIMEOUT_S
        while self._runner.clients and time.monotonic() < end:
            gevent.sleep(0.02)
            if not running_children():
                # Only messages that were sent before are still to come.
                end = min(end, time.monotonic() + LOCUSTS_WAIT_S)
        if not running_children():
            for client in self._runner.clients.values():
                client.state = runners.STATE_MISSING


def running_children():
    children = psutil.Process().children()
    return [child for child in children if child.status() != psutil.STATUS_ZOMBIE]


@events.init.add_listener
def wait_for_workers(runner, **_more):
    if not isinstance(runner, runners.MasterRunner):
        return
    runners.HEARTBEAT_LIVENESS = TIMEOUT_S
    runners.gevent = WaitingGevent(runner)
    seconds = os.environ.get("TEST_TIME_S")
    if seconds:
        reported = set()

        def note(client_id, data, **_more):
            if data["stats"]:
                reported.add(client_id)

        def end():
            gevent.sleep(float(seconds))
            wait_until = time.monotonic() + TIMEOUT_S
            processes = runner.environment.parsed_options.processes
            while len(reported) < processes and time.monotonic() < wait_until:
                gevent.sleep(0.02)
            runner.quit()

        events.worker_report.add_listener(note)
        events.spawning_complete.add_listener(lambda **_more: gevent.spawn(end))
