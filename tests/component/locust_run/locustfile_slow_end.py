"""Workers that say their counts, and end later than half a second after they are asked to."""

from __future__ import annotations

import sys

import gevent
from locust import User, constant, events, runners, task

from torr.locust import run

# A busy machine may be silent, and end its workers, for longer than three seconds.
runners.HEARTBEAT_LIVENESS = 30
run._LAST_REPORTS_S = 30.0


class Caller(User):
    wait_time = constant(0.01)
    calls = 0

    @task
    def call(self):
        Caller.calls += 1
        self.environment.events.request.fire(
            request_type="RPC", name="one", response_time=1, response_length=0
        )


@events.test_stop.add_listener
def on_test_stop(environment, **_more):
    if isinstance(environment.runner, runners.WorkerRunner):
        gevent.sleep(0.8)


@events.quitting.add_listener
def on_quitting(environment, **_more):
    if isinstance(environment.runner, runners.WorkerRunner):
        sys.stdout.write(f"called {Caller.calls}\n")
        sys.stdout.flush()
