"""Record the requests of one process that sends load: one row for each name, from Locust's events.

A report whose response carries a call of torr's client is a request; any other report is an event,
whose row is in no total.

"""

from __future__ import annotations

import math
import socket
import time
from typing import TYPE_CHECKING, Any, NoReturn

import gevent
from geventhttpclient.useragent import ConnectionError as BadStatusCode
from locust.contrib.fasthttp import FastResponse
from requests import HTTPError, Response

from torr.locust.arguments import options_in
from torr.locust.exchanges import exchange_of
from torr.locust.reactor import reactor
from torr.locust.statistics import DirectCounter
from torr.locust.tallies import RequestTally

if TYPE_CHECKING:
    from locust.env import Environment

# A locustfile may generate any number of names; beyond this, rows are looked up in the tally.
_MAX_ROWS = 2_000
_TIMER_S = 0.05

Row = tuple[str, str, bool]
# Errors that are raised before anything was sent.
UNSENT_ERRORS = (socket.gaierror, ConnectionError)
# The responses of Locust's clients.
RESPONSE_TYPES = (Response, FastResponse)
# Locust's errors for a status; its versions name the second one differently.
STATUS_ERRORS = (HTTPError, BadStatusCode)


class RequestRecorder:
    """Listens to Locust's request events, and counts requests while a test runs."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.tally = RequestTally()
        self._rows: dict[Row, int] = {}
        self._timers: list[gevent.Greenlet] = []
        self._unreported_before = 0

    def listen(self) -> None:
        """Listen to requests and to the start and end of tests."""
        events = self.environment.events
        events.request.add_listener(self.on_request)
        self.direct_counter = events.request.direct_counter = DirectCounter(self.environment, self)
        events.test_start.add_listener(self.begin)
        events.spawning_complete.add_listener(self.open_window)
        events.test_stop.add_listener(self.end)

    def begin(self, **_more: object) -> None:
        """Begin to count a new test."""
        self._stop_timers()
        self._timers.append(gevent.spawn(self.direct_counter.flush_periodically))
        if options_in(self.environment.parsed_options).is_recorded:
            self.tally.begin(warmup=bool(self.environment.reset_stats))
            self._unreported_before = reactor().engine.unreported_streams
            self._timers.append(gevent.spawn(self._measure_lag))

    def open_window(self, **_more: object) -> None:
        """End the warm-up; Locust resets its statistics at the same time."""
        self.tally.open_window()

    def end(self, **_more: object) -> None:
        """Stop counting."""
        self._stop_timers()
        # Broken streams whose error was caught by the locustfile: Locust fires no event for them.
        self.tally.set_unreported_streams(
            reactor().engine.unreported_streams - self._unreported_before
        )
        self.tally.end()

    def on_request(
        self, request_type: object, name: object, response_time: object, **more: object
    ) -> None:
        """Count a reported request."""
        exception = more.get("exception")
        response = more.get("response")
        method, row_name = _text(request_type), _text(name)
        elapsed_ms = _number(response_time)
        failure = None if exception is None else _text(exception) or type(exception).__name__
        # Locust's own clients pass these arguments; a locustfile that fires the event need not.
        is_request = "url" in more and "start_time" in more and isinstance(response, RESPONSE_TYPES)
        call = exchange_of(response) if is_request else None
        if call is not None:
            row = self.row(method, row_name, is_event=False)
            is_status = isinstance(exception, STATUS_ERRORS)
            if self.tally.record_request(row, call, elapsed_ms, failure, is_status):
                return
            is_request = False
        row = self.row(method, row_name, is_event=not is_request)
        length = max(0, int(_number(more.get("response_length")) or 0))
        unsent = is_request and isinstance(exception, UNSENT_ERRORS)
        self.tally.record_event(row, elapsed_ms, failure, length, unsent)

    def row(self, method: str, name: str, *, is_event: bool) -> int:
        """Return the row of a name."""
        key = (method, name, is_event)
        row = self._rows.get(key)
        if row is None:
            row = self.tally.row(method, name, event=is_event)
            if len(self._rows) < _MAX_ROWS:
                self._rows[key] = row
        return row

    def _measure_lag(self) -> NoReturn:
        """Record the lag of a timer, which is measured even while no request is sent."""
        while True:
            due = time.monotonic() + _TIMER_S
            gevent.sleep(_TIMER_S)
            self.tally.record_timer_lag(max(0.0, time.monotonic() - due))

    def _stop_timers(self) -> None:
        for timer in self._timers:
            timer.kill(block=False)
        self._timers.clear()


def _text(value: Any) -> str:
    """Return a name or message of the locustfile as text that can be encoded as UTF-8."""
    text = value if isinstance(value, str) else str(value if value is not None else "")
    return text.encode(errors="replace").decode()


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None
