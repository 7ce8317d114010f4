"""Users of a Dify platform: most chat with two flows, a few are services that look things up.

torr locust -f locust_dify.py -H http://localhost:8001 --headless -u 50 -r 5 -t 5m
"""

from dify.chat import ask
from locust import HttpUser, between, task

SEARCH = {"search_method": "hybrid_search", "reranking_enable": False, "top_k": 3}


class Person(HttpUser):
    weight = 4
    wait_time = between(1, 3)

    def on_start(self):
        self.client.headers["Authorization"] = "Bearer app-1"

    @task(3)
    def simple(self):
        ask(self.client, "simple", {}, timeout=60)

    @task
    def complex(self):
        ask(self.client, "complex", {"dept": "IT"}, timeout=120)


class Service(HttpUser):
    weight = 1
    wait_time = between(2, 5)

    @task
    def retrieve(self):
        body = {"query": "travel", "retrieval_model": SEARCH}
        headers = {"Authorization": "Bearer dataset-1"}
        with self.client.rename_request("retrieval"):
            self.client.post("/v1/datasets/7/retrieve", json=body, headers=headers, timeout=30)
