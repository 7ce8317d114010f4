"""Fires events without requests; some of them are failures."""

from __future__ import annotations

import waiting_master  # noqa: F401
from locust import User, constant, task


class Teller(User):
    wait_time = constant(0.01)

    @task(3)
    def good(self):
        self.environment.events.request.fire(
            request_type="RPC", name="good", response_time=12.5, response_length=7
        )

    @task
    def bad(self):
        self.environment.events.request.fire(
            request_type="",
            name="bad",
            response_time=None,
            response_length=0,
            exception=ValueError("token=abc is wrong"),
        )
