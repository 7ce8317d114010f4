"""Users whose number goes up and down again."""

from __future__ import annotations

from locust import HttpUser, LoadTestShape, constant, task

STEPS = ((3, 2), (6, 8), (9, 4))


class Visitor(HttpUser):
    wait_time = constant(0.05)

    @task
    def visit(self):
        self.client.get("/ok")


class Steps(LoadTestShape):
    def tick(self):
        now = self.get_run_time()
        return next(((users, 20) for until, users in STEPS if now < until), None)
