"""Visitors of a site.

torr locust -f locust_site.py -H http://localhost:8080 --headless -u 50 -t 1m
"""

from locust import HttpUser, between, task


class Visitor(HttpUser):
    wait_time = between(1, 3)

    @task(3)
    def front_page(self):
        self.client.get("/")

    @task
    def api(self):
        self.client.get("/api/test")
