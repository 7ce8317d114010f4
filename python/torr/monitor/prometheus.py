"""A Prometheus server that is asked by PromQL, once the load is over.

It keeps what it scrapes, so nothing has to be asked meanwhile but whether it is there, and what
time it has: its clock need not be ours. Each query is asked over the time of the load in steps of
a second; it says no more than the server has scraped by then.
"""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from torr.messages.message import Message, message
from torr.model.json_input import parse_json
from torr.monitor.fetch import ANSWER_S, EndpointError, fetch
from torr.monitor.resource_samples import MOST
from torr.monitor.scraped import MOST_SERIES, not_in_time
from torr.results.monitor import EndpointSamples, EndpointSeries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.model.json import JsonObject
    from torr.model.url import Url
    from torr.monitor.axis import Axis


ASKING_S = 5.0
"""How long all queries together may take."""
_BEFORE_S = 60.0

# What reading a document of another form than expected raises.
_OTHER_FORM = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


class PrometheusServer:
    """A server and the named queries that it is asked."""

    def __init__(self, url: Url, queries: Mapping[str, str]) -> None:
        self._url = url
        self._queries = queries
        self._error: Message | None = None
        # Its time less the monotonic one, once it has told.
        self._ahead_s: float | None = None
        self._began_s = 0.0
        self._axis: Axis | None = None
        self._greeting = threading.Thread(target=self._greet, name="torr-prometheus", daemon=True)
        self.cost_s = 0.0

    def start(self, axis: Axis) -> None:
        """Ask whether it is there, beside the load."""
        self._axis, self._began_s = axis, time.monotonic()
        self._greeting.start()

    def abandon(self) -> None:
        """There is nothing to end: it is asked when the load is over."""

    def stop(self, seconds: float) -> EndpointSamples:
        """Ask it everything; what it told."""
        if self._axis is None:
            return EndpointSamples(url=str(self._url), error=self._error)
        self._greeting.join(ANSWER_S)
        if self._ahead_s is None:
            why = self._error or not_in_time(self._url)
            return EndpointSamples(url=str(self._url), error=why)
        grid = _grid(self._axis, self._began_s, seconds)
        series = self._asked([at_s + self._ahead_s for at_s in grid])
        return EndpointSamples(
            url=str(self._url),
            t_s=[round(self._axis.at(at_s), 3) for at_s in grid],
            series=series[:MOST_SERIES],
            left_out=max(0, len(series) - MOST_SERIES),
            error=self._error,
        )

    def _greet(self) -> None:
        try:
            self._ask("/api/v1/status/buildinfo", {})
            before_s = time.monotonic()
            answer = self._ask("/api/v1/query", {"query": "time()"})
            told = float(answer["result"][1])
            self._ahead_s = told - (before_s + time.monotonic()) / 2
        except (EndpointError, *_OTHER_FORM) as error:
            why = str(error) if isinstance(error, EndpointError) else "it has no time"
            self._error = message(
                "warning.no_prometheus",
                "monitor: {url} is no Prometheus server: {why}"
                " (an endpoint of text has a path, such as /metrics)",
                url=str(self._url),
                why=why,
            )
        self.cost_s = time.thread_time()

    def _asked(self, times: list[float]) -> list[EndpointSeries]:
        """The series of every query, in their order; those without data are left out."""
        until_s = time.monotonic() + ASKING_S
        series: list[EndpointSeries] = []
        for name, query in self._queries.items():
            if time.monotonic() > until_s:
                self._error = message(
                    "warning.prometheus_slow",
                    "monitor: {url} took longer than {seconds:g} s: asked no more",
                    url=str(self._url),
                    seconds=ASKING_S,
                )
                break
            step_s = times[1] - times[0] if len(times) > 1 else 1.0
            span = {"start": f"{times[0]:.3f}", "end": f"{times[-1] + 0.001:.3f}"}
            try:
                asked = {"query": query, **span, "step": f"{step_s:.3f}"}
                answer = self._ask("/api/v1/query_range", asked)
                series += [_series(name, each, times, step_s) for each in answer["result"]]
            except (EndpointError, *_OTHER_FORM) as error:
                why = error if isinstance(error, EndpointError) else "its answer has another form"
                self._error = self._error or message(
                    "warning.query_failed",
                    "monitor: query {name} at {url}: {why}",
                    name=repr(name),
                    url=str(self._url),
                    why=str(why),
                )
        return series

    def _ask(self, target: str, asked: Mapping[str, str]) -> JsonObject:
        """What the server says, in its `data`; its own message where it refuses."""
        base = self._url.path.rstrip("/")
        page = fetch(self._url, f"{base}{target}?{urlencode(asked)}" if asked else base + target)
        try:
            answer = parse_json(page.content)
        except ValueError as error:
            raise EndpointError(f"its answer: {error}") from error
        if not isinstance(answer, dict) or answer.get("status") != "success":
            raise EndpointError(str(answer.get("error") if isinstance(answer, dict) else answer))
        data: JsonObject = answer["data"]
        return data


def _grid(axis: Axis, began_s: float, seconds: float) -> list[float]:
    """The times that are asked for: from the first whole second of the load to the window's end."""
    first = max(-_BEFORE_S, math.ceil(axis.at(began_s)))
    step = max(1, math.ceil((seconds - first) / MOST))
    count = max(1, math.floor((seconds - first) / step) + 1)
    return [axis.zero_s + first + number * step for number in range(count)]


def _series(name: str, each: JsonObject, times: list[float], step_s: float) -> EndpointSeries:
    values: list[float | None] = [None] * len(times)
    for at_s, text in each["values"]:
        place = round((float(at_s) - times[0]) / step_s)
        number = float(text)
        if 0 <= place < len(values) and math.isfinite(number):
            values[place] = round(number, 6)
    labels = {key: value for key, value in each["metric"].items() if key != "__name__"}
    return EndpointSeries(name=name, labels=labels, kind="query", values=values)
