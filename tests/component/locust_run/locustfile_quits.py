"""Ends its own test after a hundred events, with an exit code of its own."""

from __future__ import annotations

import sys

from locust import User, constant, events, task

MOST = 100
told = []


class Quitter(User):
    wait_time = constant(0.005)

    @task
    def tell(self):
        self.environment.events.request.fire(
            request_type="RPC", name="one", response_time=1, response_length=0
        )
        told.append(1)
        if len(told) == MOST:
            self.environment.process_exit_code = 7
            self.environment.runner.quit()


@events.quitting.add_listener
def on_quitting(**_more):
    sys.stdout.write(f"told {len(told)}\n")
