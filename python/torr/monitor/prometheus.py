"""Query a Prometheus server by PromQL after the load.

The server stores what it scrapes, so during the load only its presence and its clock, which may
differ from ours, are checked. Each query is evaluated over the time of the load in steps of a
second; the results have what the server has scraped by then.
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
from torr.monitor.resource_samples import MAX_SAMPLES
from torr.monitor.text_endpoint import MAX_SERIES, not_in_time
from torr.results.monitor import EndpointSamples, EndpointSeries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.model.json import JsonObject
    from torr.model.url import Url
    from torr.monitor.time_axis import TimeAxis


QUERIES_S = 5.0
"""The time limit of all queries together."""
_BEFORE_S = 60.0

# The exceptions of reading a document with an unexpected structure.
_OTHER_FORM = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


class PrometheusServer:
    """A server and its queries, by name."""

    def __init__(self, url: Url, queries: Mapping[str, str]) -> None:
        self._url = url
        self._queries = queries
        self._error: Message | None = None
        # The server's time minus the monotonic time, once known.
        self._clock_offset_s: float | None = None
        self._began_s = 0.0
        self._axis: TimeAxis | None = None
        self._probe = threading.Thread(
            target=self._probe_server, name="torr-prometheus", daemon=True
        )
        self.cost_s = 0.0

    def start(self, axis: TimeAxis) -> None:
        """Check the server in a thread, while the load runs."""
        self._axis, self._began_s = axis, time.monotonic()
        self._probe.start()

    def abandon(self) -> None:
        """Do nothing: queries are only sent after the load."""

    def stop(self, seconds: float) -> EndpointSamples:
        """Send all queries and return their results."""
        if self._axis is None:
            return EndpointSamples(url=str(self._url), error=self._error)
        self._probe.join(ANSWER_S)
        if self._clock_offset_s is None:
            reason = self._error or not_in_time(str(self._url))
            return EndpointSamples(url=str(self._url), error=reason)
        times = _query_times(self._axis, self._began_s, seconds)
        series = self._run_queries([at_s + self._clock_offset_s for at_s in times])
        return EndpointSamples(
            url=str(self._url),
            t_s=[round(self._axis.at(at_s), 3) for at_s in times],
            series=series[:MAX_SERIES],
            left_out=max(0, len(series) - MAX_SERIES),
            error=self._error,
        )

    def _probe_server(self) -> None:
        try:
            self._request("/api/v1/status/buildinfo", {})
            before_s = time.monotonic()
            answer = self._request("/api/v1/query", {"query": "time()"})
            server_s = float(answer["result"][1])
            self._clock_offset_s = server_s - (before_s + time.monotonic()) / 2
        except (EndpointError, *_OTHER_FORM) as error:
            reason = str(error) if isinstance(error, EndpointError) else "it has no time"
            self._error = message(
                "warning.no_prometheus",
                "monitor: {url} is not a Prometheus server: {reason} (a metrics endpoint has a"
                " path, such as /metrics)",
                url=str(self._url),
                reason=reason,
            )
        self.cost_s = time.thread_time()

    def _run_queries(self, times: list[float]) -> list[EndpointSeries]:
        """Return the series of all queries, in their order; those without data are omitted."""
        until_s = time.monotonic() + QUERIES_S
        series: list[EndpointSeries] = []
        for name, query in self._queries.items():
            if time.monotonic() > until_s:
                self._error = message(
                    "warning.prometheus_slow",
                    "monitor: {url} took longer than {seconds:g} s: torr does not query it again",
                    url=str(self._url),
                    seconds=QUERIES_S,
                )
                break
            step_s = times[1] - times[0] if len(times) > 1 else 1.0
            span = {"start": f"{times[0]:.3f}", "end": f"{times[-1] + 0.001:.3f}"}
            try:
                parameters = {"query": query, **span, "step": f"{step_s:.3f}"}
                answer = self._request("/api/v1/query_range", parameters)
                series += [_series(name, result, times, step_s) for result in answer["result"]]
            except (EndpointError, *_OTHER_FORM) as error:
                reason = (
                    error if isinstance(error, EndpointError) else "its response has another form"
                )
                self._error = self._error or message(
                    "warning.query_failed",
                    "monitor: query {name} at {url}: {reason}",
                    name=repr(name),
                    url=str(self._url),
                    reason=str(reason),
                )
        return series

    def _request(self, target: str, parameters: Mapping[str, str]) -> JsonObject:
        """Return the `data` of the response; raise EndpointError with the server's message."""
        base = self._url.path.rstrip("/")
        query = f"?{urlencode(parameters)}" if parameters else ""
        page = fetch(self._url, f"{base}{target}{query}")
        try:
            answer = parse_json(page.content)
        except ValueError as error:
            raise EndpointError(f"its response: {error}") from error
        if not isinstance(answer, dict) or answer.get("status") != "success":
            raise EndpointError(str(answer.get("error") if isinstance(answer, dict) else answer))
        data: JsonObject = answer["data"]
        return data


def _query_times(axis: TimeAxis, began_s: float, seconds: float) -> list[float]:
    """Return the times to evaluate at: from the load's first whole second to the window's end."""
    first = max(-_BEFORE_S, math.ceil(axis.at(began_s)))
    step = max(1, math.ceil((seconds - first) / MAX_SAMPLES))
    count = max(1, math.floor((seconds - first) / step) + 1)
    return [axis.zero_s + first + number * step for number in range(count)]


def _series(name: str, result: JsonObject, times: list[float], step_s: float) -> EndpointSeries:
    values: list[float | None] = [None] * len(times)
    for at_s, text in result["values"]:
        index = round((float(at_s) - times[0]) / step_s)
        number = float(text)
        if 0 <= index < len(values) and math.isfinite(number):
            values[index] = round(number, 6)
    labels = {key: value for key, value in result["metric"].items() if key != "__name__"}
    return EndpointSeries(name=name, labels=labels, kind="query", values=values)
