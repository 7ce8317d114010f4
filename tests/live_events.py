"""A server that sends the events of a run to a live page, and functions that make the events."""

import json
import threading
from collections import deque
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import typed
from torr.report.files import html
from torr.webserver.live.page import bare, generator_of

GIVEN = "only-here"


class Events:
    """The events of a run so far; the server sends each reader those that it does not have."""

    def __init__(self):
        self.sent, self.asked, self.stopped = [], deque(), deque()
        self.refusals = deque()
        self.changed = threading.Condition()
        self.generation = 0
        self.mark = 0

    def send(self, name, data):
        with self.changed:
            self.sent.append((name, data))
            self.changed.notify_all()

    def cut(self):
        """End every connection that is open."""
        with self.changed:
            self.generation += 1
            self.changed.notify_all()

    def begin_anew(self):
        """Be the server of another run on the same port."""
        with self.changed:
            self.sent.clear()
            self.mark += 1
        self.cut()

    def place_of(self, last_id):
        """Return how many events of this run a reader has."""
        mark, _, number = (last_id or "").partition("-")
        return int(number) + 1 if mark == str(self.mark) else 0

    def after(self, last, generation):
        """Return the events after one; None if the connection is cut."""
        with self.changed:
            self.changed.wait_for(
                lambda: len(self.sent) > last or generation != self.generation, timeout=120
            )
            if generation != self.generation or len(self.sent) <= last:
                return None
            return list(enumerate(self.sent))[last:]


@contextmanager
def served(events):
    """Serve a live page and its events, and yield its URL."""
    data = {"mode": "live", "lang": None, "run": None}
    pages = {
        path: html.document({**data, "live": {"token": token}}).encode()
        for path, token in (("/", GIVEN), ("/without-token", None))
    }

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            if self.path == "/events":
                if events.refusals:
                    self.answer(events.refusals.popleft(), b"no")
                else:
                    self.stream()
                return
            self.answer(200 if self.path in pages else 404, pages.get(self.path, b""))

        def do_POST(self):
            events.stopped.append((self.path, self.headers.get("X-Torr-Token")))
            self.answer(204, b"")

        def answer(self, status, body):
            self.send_response(status)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def stream(self):
            last = self.headers.get("Last-Event-ID")
            events.asked.append(last)
            at, generation = events.place_of(last), events.generation
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"retry: 50\n\n")
            while batch := events.after(at, generation):
                at = batch[-1][0] + 1
                self.wfile.write("".join(text_of(*each) for each in batch).encode())
                self.wfile.flush()

    def text_of(number, event):
        name, data = event
        return f"id: {events.mark}-{number}\nevent: {name}\ndata: {json.dumps(data)}\n\n"

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    events.cut()
    server.shutdown()
    server.server_close()
    thread.join()


def interval_of(level, at, index=0):
    more = {"round": 1, "candidate": None, "factors": {}, "stream_times": []}
    piece = bare(level.intervals[at])
    return {"level": index, "concurrency": level.concurrency, **more, "interval": piece}


def progress(done, left, **more):
    level = {"level": 0, "levels": 1, "from_s": 0.0, "to_s": 10.0, "is_warmup": False}
    level["generator"] = generator_of(typed.interval(health={"worker_cpu_rate": [61.2]}))
    return {"elapsed_s": done, "remaining_s": left, **level, **more}


def measured(level, t_s, index=0, **more):
    """Return an interval of one second at a time of the axis."""
    event = interval_of(level, 4, index)
    return {**event, "interval": {**event["interval"], "t_s": t_s, "seconds": 1.0, **more}}
