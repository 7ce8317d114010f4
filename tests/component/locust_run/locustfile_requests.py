"""Requests of every kind, rows of the file's own beside them, and tasks that raise.

The test ends when each of its rows was told once and a task has raised.
"""

import gevent
from locust import FastHttpUser, HttpUser, constant, events, task

ROWS = {"/ok", "refused", "unknown", "judged", "streamed", "told", "fast", "fast refused"}


@events.test_start.add_listener
def look_at_the_statistics(environment, **_more):
    """Read them again and again, as the page of Locust does."""

    def look():
        while environment.stats.total.num_requests >= 0:
            gevent.sleep(0.1)
            is_all = {name for name, _ in environment.stats.entries} == ROWS
            if is_all and environment.runner.exceptions:
                environment.runner.quit()

    gevent.spawn(look)


class Everything(HttpUser):
    wait_time = constant(0.01)

    @task
    def plain(self):
        self.client.get("/ok")

    @task
    def refused(self):
        self.client.get("http://127.0.0.1:1/", name="refused")

    @task
    def unknown(self):
        self.client.get("http://name.invalid/", name="unknown")

    @task
    def judged(self):
        with self.client.get("/ok", name="judged", catch_response=True) as answer:
            answer.failure("not what was wanted")

    @task
    def streamed(self):
        answer = self.client.get("/ok", name="streamed", stream=True)
        answer.close()

    @task
    def told_twice(self):
        answer = self.client.get("/ok", name="told")
        events.request.fire(
            request_type="OWN",
            name="told",
            response_time=1.0,
            response_length=0,
            response=answer,
            exception=None,
        )


class Raiser(HttpUser):
    wait_time = constant(0.02)

    @task
    def fail(self):
        raise RuntimeError("nobody caught this")


class Fast(FastHttpUser):
    wait_time = constant(0.01)

    @task
    def plain(self):
        self.client.get("/ok", name="fast")

    @task
    def refused(self):
        self.client.get("http://127.0.0.1:1/", name="fast refused")
