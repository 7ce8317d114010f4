"""Says which large packages a process has at the end of its load, and what it imports later."""

from __future__ import annotations

import sys

from locust import User, constant, events, task

LARGE = {"matplotlib", "numpy", "pydantic", "rich", "scipy", "sqlalchemy"}


class Caller(User):
    wait_time = constant(0.01)

    @task
    def call(self):
        self.environment.events.request.fire(
            request_type="RPC", name="one", response_time=1, response_length=0
        )


@events.init.add_listener
def on_init(environment, runner, **_more):
    before = set()

    def on_test_stop(**_more):
        before.update(sys.modules)
        say("has", LARGE & before)

    def on_quit(**_more):
        say("imported", set(sys.modules) - before)

    def say(verb, modules):
        sys.stdout.write(" ".join([type(runner).__name__, verb, *sorted(modules)]) + "\n")

    environment.events.test_stop.add_listener(on_test_stop)
    # torr has added its listener, which ends the run: this one is called after it.
    environment.events.quit.add_listener(on_quit)
