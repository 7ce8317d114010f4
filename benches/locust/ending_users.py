"""The locustfile of `ending.py`: users who ask once in a while, and a file once one of them has."""

from __future__ import annotations

import os
from pathlib import Path

from locust import HttpUser, constant, task


class Calm(HttpUser):
    wait_time = constant(0.05)

    @task
    def look(self):
        self.client.get("/")
        Path(os.environ["BEGAN"]).touch()
