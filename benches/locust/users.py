"""The locustfile of the comparison: users of one kind, and what they cost once all are there.

`USERS` names the kind. Once all have been there for a second, what the process uses is noted for
`SECONDS`; the last line on stderr says it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time

from locust import FastHttpUser, HttpUser, constant, constant_throughput, events, task

KIND = os.environ["USERS"]
LISTENS = os.environ.get("LISTENS") == "1"
QUESTION = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]}
SECONDS = float(os.environ["SECONDS"])
SETTLED_S = 1.0

seen = {"events": 0}


def used():
    """Processor seconds, resident bytes and the time."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    with open("/proc/self/statm", encoding="ascii") as pages:
        resident = int(pages.read().split()[1]) * resource.getpagesize()
    return usage.ru_utime + usage.ru_stime, resident, time.perf_counter()


class Plain(FastHttpUser if KIND == "fast" else HttpUser):
    abstract = KIND not in ("plain", "fast")
    wait_time = constant(0)

    @task
    def look(self):
        self.client.get("/")


class Paced(HttpUser):
    abstract = KIND != "paced"
    wait_time = constant_throughput(0.5)

    @task
    def look(self):
        self.client.get("/")


class Idle(HttpUser):
    abstract = KIND != "idle"
    wait_time = constant(1000)

    @task
    def look(self):
        self.client.get("/")


class Reader(HttpUser):
    abstract = KIND != "reader"
    wait_time = constant(0)

    @task
    def ask(self):
        answer = self.client.post("/v1/chat/completions", json=QUESTION, stream=True)
        for line in answer.iter_lines(decode_unicode=True):
            if line.startswith("data:"):
                seen["events"] += 1


if LISTENS:

    @events.request.add_listener
    def hear(**_request):
        """Somebody who hears of every request."""


@events.test_start.add_listener
def began(environment, **_more):
    seen["empty"] = used()[1]
    seen["environment"] = environment


@events.spawning_complete.add_listener
def complete(**_more):
    import gevent

    def note():
        gevent.sleep(SETTLED_S)
        environment = seen["environment"]
        seen["from"] = (*used(), environment.stats.total.num_requests, seen["events"])
        gevent.sleep(SECONDS)
        environment.runner.quit()

    gevent.spawn(note)


@events.test_stopping.add_listener
def stopping(environment, **_more):
    if "from" not in seen:
        return
    cpu, resident, at = used()
    began_cpu, _, began_at, requests, read = seen["from"]
    total = environment.stats.total
    seen["line"] = {
        "requests": total.num_requests - requests,
        "failures": total.num_failures,
        "events": seen["events"] - read,
        "cpu_s": cpu - began_cpu,
        "seconds": at - began_at,
        "bytes": resident - seen["empty"],
    }


@events.quit.add_listener
def said(**_more):
    sys.stderr.write(json.dumps(seen.get("line")) + "\n")
