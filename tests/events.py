"""A client of server-sent events like a browser's EventSource: events in order, and the last id."""

from __future__ import annotations

import http.client
import json
import time
from urllib.parse import parse_qs, urlsplit

TIMEOUT_S = 60


class Events:
    """One connection to `GET /events`; `seen` has every event so far as (kind, data)."""

    def __init__(self, url, last_id=None, headers=None):
        place = urlsplit(url)
        self.connection = http.client.HTTPConnection(place.hostname, place.port, TIMEOUT_S)
        again = {} if last_id is None else {"Last-Event-ID": last_id}
        self.connection.request("GET", "/events", headers={**again, **(headers or {})})
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.last_id = last_id
        self.seen = []

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def close(self):
        self.response.close()
        self.connection.close()

    def next(self):
        """Return the next event; None if the server has closed the stream."""
        fields, limit = {}, time.monotonic() + TIMEOUT_S
        while line := self.response.readline():
            # Comments that keep the connection open would put off the timeout of the socket.
            assert time.monotonic() < limit, f"no event came for {TIMEOUT_S} s"
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                fields[name] = value
            elif "event" in fields:
                self.last_id = fields.get("id", self.last_id)
                self.seen.append((fields["event"], json.loads(fields["data"])))
                return self.seen[-1]
            else:
                fields = {}
        return None

    def until(self, kind):
        """Read up to the next event of a kind, and return its data."""
        while (event := self.next()) is not None:
            if event[0] == kind:
                return event[1]
        raise AssertionError(f"the stream ended before any {kind}")

    def rest(self):
        """Return every event up to the end of the stream."""
        events = []
        while (event := self.next()) is not None:
            events.append(event)
        return events


def ask(url, path="/", method="GET", body=None, **headers):
    """Send one request; return status, headers and text of its response."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, TIMEOUT_S)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, headers=named)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read().decode()
    finally:
        connection.close()


def token_of(url):
    """Return the token in the URL that torr printed for its live page."""
    return parse_qs(urlsplit(url).query)["token"][0]
