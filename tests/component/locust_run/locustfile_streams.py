"""Streams that the client closes, that break, and that are not reported."""

from __future__ import annotations

from gevent import sleep
from gevent.server import StreamServer
from locust import HttpUser, constant, events, task

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
    b"Connection: close\r\n\r\n"
)
EVENT = b'data: {"choices":[{"delta":{"content":"word"}}]}\n\n'


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def serve(connection, _address):
    """Answer one request: a stream that is slow, or one that is cut."""
    with connection:
        asked = connection.recv(65536)
        try:
            connection.sendall(HEAD + chunk(EVENT))
            if b"/held" in asked:
                sleep(60)
            if b"/slow" in asked:
                sleep(0.2)
                connection.sendall(chunk(EVENT) + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")
        except OSError:
            return  # who asked has hung up


server = StreamServer(("127.0.0.1", 0), serve)
server.start()
HOST = f"http://127.0.0.1:{server.server_port}"


class Never(HttpUser):
    """Requests a stream, and does not read it."""

    host = HOST
    wait_time = constant(0.03)

    @task
    def never(self):
        self.client.post("/slow", stream=True, name="never")


class Holder(HttpUser):
    """Requests a stream without an end, and keeps it open."""

    host = HOST
    wait_time = constant(60)

    @task
    def hold(self):
        self.held = self.client.post("/held", stream=True, name="held")


class Reader(HttpUser):
    """Reads streams to their end."""

    host = HOST

    @task
    def read(self):
        for _ in self.client.post("/slow", stream=True, name="read").iter_lines():
            pass


class Silent(HttpUser):
    """Catches the error of a broken stream, and fires an event."""

    host = HOST
    wait_time = constant(0.05)

    @task
    def silent(self):
        try:
            with self.client.post("/cut", stream=True, name="cut", catch_response=True) as answer:
                list(answer.iter_lines())
        except Exception as error:
            events.request.fire(
                request_type="OWN",
                name="broke",
                response_time=1,
                response_length=0,
                exception=error,
            )
