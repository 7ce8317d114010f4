"""Users whose process takes long to begin, and longer to end than Locust's CSV files sleep."""

from __future__ import annotations

import atexit
import sys

import gevent
from gevent.monkey import get_original
from locust import User, constant, task

get_original("time", "sleep")(1)


class Teller(User):
    wait_time = constant(0.01)

    @task
    def good(self):
        self.environment.events.request.fire(
            request_type="RPC", name="good", response_time=12.5, response_length=7
        )


@atexit.register
def end_late():
    gevent.sleep(1.5)
    sys.stdout.write("late\n")
