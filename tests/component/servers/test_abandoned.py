"""Nothing is left of a server when torr or its watcher is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import torr
from installed import is_running, wait_until
from programs import FORKS_AND_LEAVES, HELLO, LEAVES_A_CHILD, WORKERS
from torr.procfs.cgroup import members
from torr.servers import watcher_process
from torr.servers.ports import port_listeners
from torr.servers.readiness import await_ready

USER = """
import sys, time
from pathlib import Path
from torr.servers.command import Command
from torr.servers.reservation import reserve
from torr.servers.readiness import await_ready
from torr.servers.server import Server

with reserve() as here:
    words = (sys.executable, "-I", "-S", "-B", *sys.argv[2:])
    command = Command((*words[:5], "{port}", *words[5:]), "http://127.0.0.1:{port}/")
    with Server.start(command.filled(here.values), here.scratch, Path(sys.argv[1])) as server:
        await_ready(server)
        Path(here.scratch, "inside").mkdir()
        print(here.port, here.scratch, server.watcher_pid, *server.pids(), flush=True)
        time.sleep(600)
"""


@pytest.fixture
def user(command, tmp_path):
    """A process that holds a server; it, its port, scratch folder, watcher and server's pids."""
    running = []

    def started(code, *words):
        command(code)
        process = subprocess.Popen(
            [sys.executable, "-c", USER, tmp_path / "log", tmp_path / "app.py", *words],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(torr.__file__).parents[1])},
        )
        running.append(process)
        port, scratch, *pids = process.stdout.readline().split()
        return process, int(port), Path(scratch), *map(int, pids)

    yield started
    for process in running:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("code", "words"), [(HELLO, ()), (WORKERS, ("3",)), (FORKS_AND_LEAVES, ())]
)
def test_a_killed_torr_takes_its_server_along(user, code, words):
    process, port, scratch, watcher, *pids = user(code, *words)
    assert is_running(watcher)
    assert any(map(is_running, pids))
    process.kill()
    process.wait()
    wait_until(lambda: not any(map(is_running, [watcher, *pids])))
    wait_until(lambda: not scratch.exists())
    assert port_listeners(port) == []


def test_an_interrupted_torr_stops_its_server_and_cleans_up(user):
    process, port, scratch, *pids = user(WORKERS, "2")
    process.send_signal(signal.SIGINT)
    process.wait(20)
    assert not any(map(is_running, pids))
    assert not scratch.exists()
    assert port_listeners(port) == []


def test_a_watcher_that_is_told_to_end_kills_its_server(start):
    server = start(HELLO)
    await_ready(server)
    os.kill(server.watcher_pid, signal.SIGTERM)
    assert not server.wait(20)
    assert not is_running(server.pid)
    assert server.stop().failure().kind == "died"


@pytest.mark.parametrize("code", [HELLO, FORKS_AND_LEAVES])
def test_a_watcher_that_is_killed_leaves_nothing_behind(start, here, code):
    server = start(code)
    await_ready(server)
    wait_until(lambda: server.wait(0.01) and len(server.pids()) == 1)
    pids = server.pids()
    os.kill(server.watcher_pid, signal.SIGKILL)
    assert not server.wait(20)
    assert "another process ended its watcher" in server.unexpected_exit().message
    group = server._cgroup
    assert server.stop().failure().kind == "died"
    assert not any(map(is_running, pids))
    wait_until(lambda: port_listeners(here.port) == [])
    assert group is None or not Path(group).exists()


@pytest.fixture
def without_cgroup(monkeypatch):
    """Watchers find no control groups."""
    refusing = """from torr.servers import cgroup, watcher
def create(_name):
    raise OSError("none are mounted")
cgroup.create = create
watcher.main()
"""
    monkeypatch.setattr(watcher_process, "_CODE", refusing)


@pytest.mark.usefixtures("without_cgroup")
@pytest.mark.parametrize("code", [HELLO, FORKS_AND_LEAVES])
def test_without_a_control_group_processes_are_found_by_their_marks(start, here, code):
    server = start(code)
    assert server.without_cgroup == "none are mounted"
    await_ready(server)
    pids = wait_until(lambda: server.wait(0.01) and len(server.pids()) == 1 and server.pids())
    os.kill(server.watcher_pid, signal.SIGKILL)
    wait_until(server.unexpected_exit)
    assert set(server.pids()) <= set(pids)
    assert server.stop().failure().kind == "died"
    assert not any(map(is_running, pids))
    wait_until(lambda: port_listeners(here.port) == [])


@pytest.mark.usefixtures("without_cgroup", "short_stay")
def test_without_a_control_group_a_tree_is_killed_as_well(start):
    server = start(LEAVES_A_CHILD)
    await_ready(server)
    pids = server.pids()
    assert len(pids) == 2
    assert server.stop().failure().kind == "left_behind"
    assert not any(map(is_running, pids))


def test_a_control_group_goes_with_its_server(start):
    server = start(HELLO)
    group = server._cgroup
    if group is None:
        pytest.skip(f"a server has no control group here: {server.without_cgroup}")
    assert members(group) == [server.pid]
    server.stop()
    assert not Path(group).exists()
