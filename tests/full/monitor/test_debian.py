"""Debian's prometheus and node exporter, started on ports of loopback that nobody has."""

from __future__ import annotations

import shutil
import subprocess
import time
from contextlib import contextmanager

import pytest

from installed import free_port, wait_until
from torr.model.url import Url
from torr.monitor.fetch import EndpointError, fetch
from torr.monitor.prometheus import PrometheusServer
from torr.monitor.query_sets import SETS, queries_in
from torr.monitor.text_endpoint import TextEndpoint
from torr.monitor.time_axis import TimeAxis

CONFIG = """
scrape_configs:
  - job_name: node
    scrape_interval: 1s
    scrape_timeout: 1s
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


@contextmanager
def started(command, url):
    """A server that answers at a URL; ended with the block."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        try:
            wait_until(lambda: answers(url))
            yield url
        finally:
            process.terminate()
            process.wait(20)


def answers(url):
    try:
        return fetch(Url.parse(url))
    except EndpointError:
        return None


def program(name):
    return shutil.which(name, path="/usr/bin:/usr/local/bin:/usr/sbin")


@pytest.fixture(scope="module")
def exporter():
    port = free_port()
    command = [program("prometheus-node-exporter"), f"--web.listen-address=127.0.0.1:{port}"]
    with started(command, f"http://127.0.0.1:{port}/metrics") as url:
        yield url


@pytest.fixture(scope="module")
def server(exporter, tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("prometheus"), free_port()
    config = folder / "prometheus.yml"
    config.write_text(CONFIG.format(port=Url.parse(exporter).port))
    command = [program("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={folder}"]
    command.append(f"--web.listen-address=127.0.0.1:{port}")
    with started(command, f"http://127.0.0.1:{port}/-/ready") as url:
        yield url.replace("-/ready", "")


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_the_text_of_a_node_exporter_is_read(exporter):
    endpoint = TextEndpoint(Url.parse(exporter))
    endpoint.start(TimeAxis(time.monotonic()))
    wait_until(lambda: len(endpoint._pages.samples) >= 2)
    found = endpoint.stop(1.0)
    assert found.error is None
    kinds = {series.name: series.kind for series in found.series}
    assert kinds["process_cpu_seconds_total"] == "counter"
    assert kinds["node_load1"] == "gauge"


@pytest.mark.usefixtures("long_monitor_timeouts")
def test_a_prometheus_is_asked_the_ready_made_queries_on_the_axis_of_the_load(server):
    source = PrometheusServer(Url.parse(server), {"up": "up", **queries_in(SETS)})
    began_s = time.monotonic()
    source.start(TimeAxis(began_s))
    wait_until(lambda: any(value == 1 for value in up_of(source, began_s)))
    found = source.stop(time.monotonic() - began_s)
    assert found.error is None
    names = {series.name for series in found.series}
    assert {"up", "node_load1", "node_memory_available_bytes"} <= names
    # PromQL that the server cannot read would be an error; those of others have no data here.
    assert not any(name.startswith(("container_", "postgres_")) for name in names)
    assert all(len(series.values) == len(found.t_s) for series in found.series)


def up_of(source, began_s):
    told = source.stop(time.monotonic() - began_s)
    return [value for series in told.series if series.name == "up" for value in series.values]
