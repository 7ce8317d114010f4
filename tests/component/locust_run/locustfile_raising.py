"""Tasks that raise beside events that are well."""

from __future__ import annotations

from locust import User, constant, task


class Raiser(User):
    wait_time = constant(0.02)

    @task
    def tell(self):
        self.environment.events.request.fire(
            request_type="RPC", name="one", response_time=1, response_length=0
        )

    @task
    def fail(self):
        raise RuntimeError("nobody caught this")
