"""Endpoints of text and Prometheus servers, played by the test; those that do not answer."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import msgspec
import pytest

from recorder import of_json, recording
from torr.model.url import Url
from torr.monitor import fetch as fetching
from torr.monitor import prometheus as prometheus_server
from torr.monitor.exposition import ScrapedSample
from torr.monitor.fetch import EndpointError, fetch
from torr.monitor.prometheus import PrometheusServer
from torr.monitor.text_endpoint import MAX_SERIES, TextEndpoint, _growth
from torr.monitor.ticker import Ticker
from torr.monitor.time_axis import TimeAxis


@dataclass
class Growing:
    """A page whose counter grows by 10 each time, and begins anew at its fifth."""

    times: int = 0
    more: str = ""
    seen: list = field(default_factory=list)

    def __call__(self, seen):
        self.seen.append(seen)
        self.times += 1
        number = 10 * self.times if self.times < 5 else 1
        text = f'# TYPE a counter\na{{x="1"}} {number}\n# TYPE b gauge\nb {self.times}\n'
        return 200, {}, (text + self.more).encode()


def told_by(endpoint, reads):
    """What an endpoint tells that was read so many times, without waiting for seconds."""
    endpoint._axis = TimeAxis(time.monotonic())
    for _ in range(reads):
        endpoint.read()
    endpoint._ticker = Ticker(endpoint.read, endpoint._axis, "endpoint")
    return endpoint.stop(1.0)


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_counters_become_rates_and_gauges_stay():
    with recording(Growing()) as server:
        found = told_by(TextEndpoint(Url.parse(f"{server.url}/metrics"), ("a", "b")), 6)
    a, b = found.series
    assert (a.name, a.labels, a.kind) == ("a", {"x": "1"}, "counter")
    assert all(rate > 0 for rate in a.values[:3])
    assert (a.values[3], a.values[4]) == (None, 0.0)
    assert (b.kind, b.values) == ("gauge", [2, 3, 4, 5, 6])
    assert (len(found.t_s), found.error) == (5, None)


def test_a_counter_whose_growth_is_beyond_a_float_has_none():
    key = ("a", (("x", "1"),))
    before, after = (ScrapedSample(*key, "counter", value) for value in (0.0, 1.5e308))
    assert _growth(key, ((0.0, {key: before}), (0.5, {key: after}))) is None
    assert _growth(key, ((0.0, {key: before}), (10.0, {key: after}))) == 1.5e307


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_of_too_many_series_the_first_stay_and_the_others_are_counted():
    more = "".join(f"c{number} 1\n" for number in range(MAX_SERIES))
    with recording(Growing(more=more)) as server:
        found = told_by(TextEndpoint(Url.parse(f"{server.url}/metrics"), ("b", "*")), 2)
    assert (len(found.series), found.left_out) == (MAX_SERIES, 2)
    assert found.series[0].name == "b"


@pytest.mark.usefixtures("long_monitor_timeouts")
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((404, {}, b"no"), "it answers 404"),
        ((302, {"location": "/x"}, b""), "it answers 302"),
        ((200, {}, b"<html>hello</html>"), "not in Prometheus' text format"),
    ],
)
def test_what_is_no_endpoint_is_said_once(answer, why):
    with recording(lambda _seen: answer) as server:
        found = told_by(TextEndpoint(Url.parse(f"{server.url}/metrics")), 2)
    assert found.error.startswith(f"monitor: {server.url}/metrics was not read: ")
    assert why in found.error
    assert found.series == []


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_an_endpoint_that_is_not_there_is_said_and_nothing_waits_for_it():
    with socket.create_server(("127.0.0.1", 0)) as held:
        place = f"http://127.0.0.1:{held.getsockname()[1]}/metrics"
    endpoint = TextEndpoint(Url.parse(place))
    endpoint.start(TimeAxis(time.monotonic()))
    found = endpoint.stop(1.0)
    assert f"{place} was not read: Connection refused" in found.error
    endpoint.abandon()


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_a_password_goes_to_the_endpoint_and_not_into_the_result():
    page = Growing()
    with recording(page) as server:
        url = Url.parse(server.url.replace("//", "//ann:secret@") + "/metrics")
        found = told_by(TextEndpoint(url), 2)
    assert page.seen[0].headers["authorization"].startswith("Basic ")
    assert "secret" not in msgspec.json.encode(found).decode()


@pytest.fixture
def hurried(monkeypatch):
    """Connecting may take for ever, answers may not."""
    monkeypatch.setattr(fetching, "CONNECT_S", 60.0)
    monkeypatch.setattr(fetching, "ANSWER_S", 0.2)


@pytest.mark.usefixtures("hurried")
def test_an_answer_without_an_end_is_left():
    over = threading.Event()

    def drip(listener):
        with listener.accept()[0] as peer, suppress(OSError):
            peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while not over.wait(0.05):
                peer.sendall(b"a 1\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,), daemon=True)
        thread.start()
        with pytest.raises(EndpointError, match="no whole response within"):
            fetch(Url.parse(f"http://127.0.0.1:{listener.getsockname()[1]}/"))
        over.set()
        thread.join(20)


@pytest.mark.usefixtures("hurried")
def test_an_answer_that_does_not_begin_is_left_in_the_same_words():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = Url.parse(f"http://127.0.0.1:{silent.getsockname()[1]}/")
        with pytest.raises(EndpointError, match=r"^no whole response within 0\.2 s$"):
            fetch(url)


@dataclass
class Standing:
    """A clock that stands still unless it is put forward."""

    now_s: float = 100.0

    def monotonic(self):
        return self.now_s

    def thread_time(self):
        return 0.0


@contextmanager
def prometheus(results, now_s=5000.0, status=200):
    """A server whose clock stands, and which knows a result for each query."""

    def answer(seen):
        if seen.path.endswith("buildinfo"):
            return of_json({"status": "success", "data": {"version": "2"}})
        query = seen.query["query"]
        if query == "time()":
            data = {"resultType": "scalar", "result": [now_s, str(now_s)]}
            return of_json({"status": "success", "data": data})
        if query not in results:
            body = {"status": "error", "error": "parse error: unexpected end"}
            return status, {}, json.dumps(body).encode()
        data = {"resultType": "matrix", "result": results[query]}
        return of_json({"status": "success", "data": data})

    with recording(answer) as server:
        yield server


def asked(server, queries, seconds=3.0, now=time):
    source = PrometheusServer(Url.parse(f"{server.url}/"), queries)
    source.start(TimeAxis(now.monotonic() + 0.5))
    return source.stop(seconds)


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_queries_are_asked_over_the_time_of_the_load_by_the_servers_clock(monkeypatch):
    now = Standing()
    monkeypatch.setattr(prometheus_server, "time", now)
    # The window begins half a second after the server's clock said 5000.
    values = [[5000.5, "1"], [5001.5, "NaN"], [5002.5, "7"], [9000.0, "8"]]
    found_of = {"up": [{"metric": {"__name__": "up", "job": "a"}, "values": values}], "none": []}
    with prometheus(found_of) as server:
        found = asked(server, {"is up": "up", "nobody": "none"}, now=now)
        range_ = next(seen for seen in server.seen if seen.path.endswith("query_range"))
    [series] = found.series
    assert (series.name, series.labels, series.kind) == ("is up", {"job": "a"}, "query")
    assert len(series.values) == len(found.t_s) == 4
    assert series.values == [1.0, None, 7.0, None]
    assert found.t_s == [0.0, 1.0, 2.0, 3.0]
    assert float(range_.query["start"]) == 5000.5
    assert (range_.query["step"], found.error) == ("1.000", None)


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_a_query_that_is_refused_is_said_and_the_others_are_answered():
    found_of = {"up": [{"metric": {}, "values": [[5000.0, "1"]]}]}
    with prometheus(found_of) as server:
        found = asked(server, {"broken": "(", "fine": "up"})
    assert "query 'broken'" in found.error
    assert "parse error: unexpected end" in found.error
    assert [series.name for series in found.series] == ["fine"]


@pytest.mark.usefixtures("long_monitor_timeouts")
@pytest.mark.usefixtures("long_monitor_timeouts")
@pytest.mark.parametrize(
    "series",
    [
        {"metric": {}, "values": [["inf", "1"]]},
        {"metric": [], "values": [[5000.0, "1"]]},
        {"metric": {}, "values": [5000.0]},
        {"metric": {}, "values": [[1e308, "1"], [5000.0]]},
        {"values": []},
        "none",
    ],
)
def test_an_answer_of_another_form_is_said_and_the_others_are_read(series):
    found_of = {"odd": [series], "up": [{"metric": {}, "values": [[5000.0, "1"]]}]}
    with prometheus(found_of) as server:
        found = asked(server, {"odd": "odd", "fine": "up"})
    assert "query 'odd'" in found.error
    assert found.error.endswith("its response has another form")
    assert [one.name for one in found.series] == ["fine"]


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_what_is_no_prometheus_is_said_with_what_to_write():
    with recording() as server:
        found = asked(server, {"up": "up"})
    assert "is not a Prometheus server" in found.error
    assert "such as /metrics" in found.error
    assert found.series == []


def test_a_server_that_was_never_begun_says_nothing():
    source = PrometheusServer(Url.parse("http://127.0.0.1:9/"), {})
    source.abandon()
    assert source.stop(1.0).series == []
