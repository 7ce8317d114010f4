"""What people run today: Locust reading a stream line by line, with either of its clients.

CLIENT=fast is FastHttpUser, anything else HttpUser. The first text of each stream is timed by hand,
as Locust itself times the head. What was seen goes to the file that SEEN names.
"""

from __future__ import annotations

import json
import os
import time

from locust import FastHttpUser, HttpUser, events

BODY = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "stream": True,
    "stream_options": {"include_usage": True},
}
PATH = "/v1/chat/completions"
FIRST = []
COUNTED = {"texts": 0, "streams": 0}


def read(ask):
    """Asks, reads the stream to its end, and times its first text."""
    began = time.perf_counter()
    first = None
    for line in ask():
        text = line.decode() if isinstance(line, bytes) else line
        if not text.startswith("data: {"):
            continue
        choices = json.loads(text[6:])["choices"]
        if choices and choices[0]["delta"].get("content"):
            COUNTED["texts"] += 1
            first = first or time.perf_counter() - began
    COUNTED["streams"] += 1
    if first is not None:
        FIRST.append(first * 1000)


def ask_fast(user):
    """By its own reader of lines, which waits for 1,024 bytes at a time."""
    read(lambda: user.client.iter_lines(PATH, method="POST", json=BODY))


def ask(user):
    """By the reader of lines of requests."""
    read(lambda: user.client.post(PATH, json=BODY, stream=True).iter_lines())


if os.environ.get("CLIENT") == "fast":

    class FastChat(FastHttpUser):
        """Streams over geventhttpclient."""

        tasks = [ask_fast]

else:

    class Chat(HttpUser):
        """Streams over requests."""

        tasks = [ask]


@events.quitting.add_listener
def _keep(**_):
    with open(os.environ["SEEN"], "w") as file:
        json.dump({**COUNTED, "first": FIRST}, file)
