"""A message to Dify, and its response as it comes. A stream that breaks off is a failure."""

import json
import time

from locust import events
from requests import RequestException


def ask(client, name, inputs, timeout):
    """Chat once; rows of their own say when the head and when the end came."""
    body = {"query": "Hello", "inputs": inputs, "response_mode": "streaming", "user": "u"}
    options = {"json": body, "timeout": timeout, "stream": True, "catch_response": True}
    begin = time.perf_counter()
    with client.post("/v1/chat-messages", name=name, **options) as answer:
        if answer.status_code == 200:
            row(f"{name}: TTFB", begin)
            try:
                kinds = [json.loads(data)["event"] for data in data_of(answer.iter_lines())]
                if "message_end" in kinds:
                    row(f"{name}: Full Response", begin)
                else:
                    answer.failure("the stream ended without message_end")
            except (RequestException, ValueError) as broken:
                answer.failure(broken)


def data_of(lines):
    data = []
    for line in lines:
        if line.startswith(b"data:") and line != b"data: [DONE]":
            data.append(line[5:].strip())
        elif not line and data:
            yield b"\n".join(data)
            data = []


def row(name, begin):
    took = (time.perf_counter() - begin) * 1000
    events.request.fire(request_type="SSE", name=name, response_time=took, response_length=0)
