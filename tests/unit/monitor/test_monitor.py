"""A whole monitor, on this machine: a child's CPU by its own clock, and what never goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import psutil
import pytest

import typed
from torr.model.url import Url
from torr.monitor.monitor import Monitor, MonitorScope
from torr.monitor.target_processes import _ancestors, listening_processes
from torr.procfs.stat import process_stat
from torr.results.base import builtins, convert
from torr.results.monitor import MonitorSeries

LEVEL = typed.level(ok_per_s=100.0)
# Works in a grandchild, waits for it, and says what both have used by their own clocks.
WORKING = """
import os, sys, time
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
print(flush=True)
sys.stdin.readline()
began_s = sum(os.times()[:4])
child = os.fork()
if child == 0:
    work(0.6)
    os._exit(0)
os.waitpid(child, 0)
work(0.3)
print(sum(os.times()[:4]) - began_s, flush=True)
sys.stdin.readline()
"""


@contextmanager
def started(code):
    words = [sys.executable, "-c", code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def tell(process):
    process.stdin.write("go\n")
    process.stdin.flush()


def test_the_cpu_of_a_tree_is_what_its_own_clocks_say():
    with started(WORKING) as process:
        # What it takes to start is over.
        process.stdout.readline()
        monitor = Monitor(MonitorScope(roots=lambda: [process.pid]), time.monotonic())
        monitor.start()
        tell(process)
        used_s = float(process.stdout.readline())
        found = monitor.stop(LEVEL)
    told_s = sum(
        rate * seconds / 100
        for rate, seconds in zip(found.target.cpu_rate, found.seconds, strict=True)
    )
    # Ticks of 10 ms, rounded down in each of the numbers that are added up.
    assert told_s == pytest.approx(used_s, abs=0.05)
    assert used_s > 0.8
    assert [name.split()[0] for name in found.target.names] == [str(process.pid)]


def test_what_it_says_fits_the_model_and_its_cost_is_measured():
    monitor = Monitor(MonitorScope(), time.monotonic() + 0.1)
    monitor.start()
    monitor.interval_came(typed.interval(seconds=0.1))
    found = monitor.stop(LEVEL)
    assert found.target is None
    assert found.derived.limit is None
    assert found.cost_rate > 0
    assert len(found.t_s) == len(found.seconds) == len(found.cores.busy_rate[0]) >= 1
    assert convert(builtins(found), MonitorSeries) == found


def test_a_target_that_is_not_there_is_said_once():
    monitor = Monitor(MonitorScope(roots=lambda: [4_000_000]), time.monotonic())
    monitor.start()
    found = monitor.stop(LEVEL)
    assert found.warnings == ["monitor: the process of the target does not exist"]
    assert found.derived.limit == "neither"


def test_a_target_that_dies_meanwhile_leaves_its_numbers():
    with started(WORKING) as process:
        monitor = Monitor(MonitorScope(roots=lambda: [process.pid]), time.monotonic())
        monitor.start()
    found = monitor.stop(LEVEL)
    assert found.target.processes[-1] == 0
    assert found.target.pss_bytes is None
    assert found.warnings == []


def test_an_abandoned_monitor_leaves_no_thread():
    monitor = Monitor(MonitorScope(), time.monotonic())
    monitor.start()
    monitor.abandon()
    monitor.abandon()
    assert "torr-monitor" not in {each.name for each in threading.enumerate()}


def own_processes():
    """This process and what it started: servers of other tests may be among them."""
    this = psutil.Process()
    return {this.pid, *(child.pid for child in this.children(recursive=True))}


def test_a_server_that_torr_did_not_start_is_not_counted_as_torr():
    before = own_processes()
    with started("input()") as process:
        monitor = Monitor(MonitorScope(roots=lambda: [process.pid]), time.monotonic())
        monitor.start()
        generator = set(monitor._generator.pids)
        # Processes of servers that other tests have left running may begin or end meanwhile.
        after = own_processes() - {process.pid}
        found = monitor.stop(LEVEL)
    assert os.getpid() in generator
    assert before & after <= generator <= before | after
    assert found.generator.processes[0] == len(generator)
    assert found.target.processes[-1] == 1


def test_torr_is_no_part_of_a_target_that_it_runs_below():
    before = own_processes()
    monitor = Monitor(MonitorScope(roots=lambda: [os.getppid()]), time.monotonic())
    monitor.start()
    after = own_processes()
    assert os.getppid() in monitor._target.pids
    assert os.getpid() not in monitor._target.pids
    assert before & after <= set(monitor._generator.pids) <= before | after
    monitor.stop(LEVEL)


SERVING = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    input()
"""


def test_who_listens_where_a_load_goes_is_found():
    with started(SERVING) as process:
        port = int(process.stdout.readline())
        assert listening_processes([Url.parse(f"http://127.0.0.1:{port}/a")]) == [process.pid]
        assert listening_processes([Url.parse(f"http://localhost:{port}/a")]) == [process.pid]
        assert listening_processes([Url.parse(f"http://192.0.2.1:{port}/")]) == []
        assert listening_processes([Url.parse("unix:/run/x.sock")]) == []


WORKERS = """
import os, socket, sys

def listen(port):
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    server.bind(("127.0.0.1", port))
    server.listen()
    return server

out, to_out = os.pipe()
with listen(0) as server:
    port = server.getsockname()[1]
    for _ in range(11):
        if not os.fork():
            server.close()
            own = listen(port)
            os.write(to_out, b"%d " % os.getpid())
            sys.stdin.read()
            os._exit(0)
    pids = b""
    while pids.count(b" ") < 11:
        pids += os.read(out, 1000)
    print(port, os.getpid(), pids.decode(), flush=True)
    sys.stdin.read()
"""


def test_each_worker_with_a_socket_of_its_own_is_found():
    with started(WORKERS) as process:
        port, *pids = map(int, process.stdout.readline().split())
        assert len(pids) == 12
        assert listening_processes([Url.parse(f"http://127.0.0.1:{port}/")]) == sorted(pids)


def test_who_listens_above_torr_is_not_watched(monkeypatch):
    with started(SERVING) as process:
        port = int(process.stdout.readline())
        monkeypatch.setattr(
            "torr.monitor.target_processes._ancestors", lambda: [os.getpid(), process.pid]
        )
        assert listening_processes([Url.parse(f"http://127.0.0.1:{port}/")]) == []


def test_the_line_of_torr_goes_up_to_the_first_process():
    line = _ancestors()
    assert line[:2] == [os.getpid(), os.getppid()]
    assert process_stat(line[-1]).parent == 0


def test_a_target_inside_of_this_process_is_not_watched_as_another():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        assert (
            listening_processes([Url.parse(f"http://127.0.0.1:{server.getsockname()[1]}/")]) == []
        )
