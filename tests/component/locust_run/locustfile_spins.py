"""A user whose task computes nearly all the time: a signal hits it, and not Locust's main."""

from __future__ import annotations

import time

from locust import User, constant, task


class Spinner(User):
    wait_time = constant(0.001)

    @task
    def spin(self):
        until = time.perf_counter() + 0.05
        while time.perf_counter() < until:
            pass
        self.environment.events.request.fire(
            request_type="RPC", name="spun", response_time=50.0, response_length=0
        )
