"""LLM servers that are read during a load: pages, empty pages, and those that are none."""

from __future__ import annotations

import socket
import time

import msgspec
import pytest

from recorder import recording
from torr.model.url import Url
from torr.monitor.exporters import exporter
from torr.monitor.fetch import EndpointError
from torr.monitor.readings import Reading
from torr.monitor.serving_series import serving_series
from torr.monitor.serving_source import ServingSource, endpoint_of
from torr.monitor.time_axis import TimeAxis

PAGE = "# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 3.0\n"


def read_from(answer, reads=2, name="vllm"):
    """Return what a server that answers so was read as, without waiting for seconds."""
    with recording(answer) as server:
        source = endpoint_of(exporter(name), Url.parse(f"{server.url}/metrics"))
        for _ in range(reads):
            source.read()
        return source.stop(1.0), server


def page(text, status=200):
    return lambda _seen: (status, {}, text.encode())


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_a_server_is_read_under_its_name():
    taken, server = read_from(page(PAGE))
    assert (taken.source, taken.url, taken.error) == ("vllm", f"{server.url}/metrics", None)
    assert [reading.gauges for reading in taken.readings] == [{"waiting": 3.0}] * 2


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_a_server_that_counts_nothing_before_its_first_request_is_fine():
    pages = iter(["", "# TYPE tgi_request_count counter\n", "tgi_queue_size 1\n"])
    taken, _ = read_from(lambda _seen: (200, {}, next(pages).encode()), 3, "tgi")
    assert taken.error is None
    assert [reading.is_empty for reading in taken.readings] == [True, True, False]


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_a_page_without_the_metrics_of_the_server_is_said():
    taken, server = read_from(page("sglang:num_queue_reqs 1\n"))
    assert taken.error.code == "warning.metrics_missing"
    assert taken.error == f"monitor: {server.url}/metrics has none of the metrics of vllm"


@pytest.mark.usefixtures("long_monitor_timeouts")
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (page("no", 404), "it answers 404"),
        (page('[{"iter": 1, "kvCacheStats": {}}]'), "not in Prometheus' text format"),
        (page("<html>hello</html>"), "not in Prometheus' text format"),
    ],
)
def test_what_is_no_page_of_metrics_is_said_once(answer, why):
    taken, server = read_from(answer)
    assert taken.error.startswith(f"monitor: {server.url}/metrics was not read: ")
    assert why in taken.error
    assert list(taken.readings) == []


def test_a_server_that_is_not_there_is_said_and_nothing_waits_for_it():
    with socket.create_server(("127.0.0.1", 0)) as held:
        place = f"http://127.0.0.1:{held.getsockname()[1]}/metrics"
    source = endpoint_of(exporter("vllm"), Url.parse(place))
    source.start(TimeAxis(time.monotonic()))
    taken = source.stop(1.0)
    assert f"{place} was not read: Connection refused" in taken.error
    source.abandon()


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_a_password_goes_to_the_server_and_not_into_the_result():
    with recording(page(PAGE)) as server:
        url = Url.parse(server.url.replace("//", "//ann:secret@") + "/metrics")
        source = endpoint_of(exporter("vllm"), url)
        source.read()
        source.read()
        taken = source.stop(1.0)
    assert server.seen[0].headers["authorization"].startswith("Basic ")
    series = serving_series(taken, TimeAxis(0.0))
    assert "secret" not in msgspec.json.encode(series).decode()


def counted(fails=()):
    """Return a source whose readings are numbered, and the list of those numbers."""
    taken = []

    def take():
        taken.append(len(taken))
        if taken[-1] in fails:
            raise EndpointError("it answers 503")
        return Reading(float(taken[-1]), {"running": 1.0})

    return ServingSource("vllm", "http://x/metrics", take), taken


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_the_last_reading_is_taken_after_the_load():
    source, taken = counted()
    source.start(TimeAxis(time.monotonic()))
    found = source.stop(0.0)
    assert len(found.readings) == len(taken) >= 2


def test_a_source_that_failed_is_not_read_again_at_the_end():
    source, taken = counted(fails=range(100))
    source.start(TimeAxis(time.monotonic()))
    found = source.stop(0.0)
    assert len(taken) == 1
    assert found.error == "monitor: http://x/metrics was not read: it answers 503"


def test_one_failed_reading_leaves_the_others():
    source, _ = counted(fails=(1,))
    for _ in range(3):
        source.read()
    found = source.stop(0.0)
    assert [reading.at_s for reading in found.readings] == [0.0, 2.0]
    assert "503" in found.error
