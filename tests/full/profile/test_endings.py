"""Targets that end in mid-profile: what was seen so far, and that they are gone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from installed import wait_until, wait_until_seen
from torr.errors import UsageError
from torr.profile import tools
from torr.profile.go import Pprof
from torr.profile.memory import Memray
from torr.profile.perf import Perf
from torr.profile.pyspy import PySpy

# As perf does: it looks until its command ends, or what it looks at, of which it dies by SIGTERM.
PERF = """#!/bin/sh
if [ "$1" = record ]; then
    while [ $# -gt 0 ]; do
        case $1 in
            -p) pid=$2 ;;
            -o) file=$2 ;;
            sleep) seconds=$2 ;;
        esac
        shift
    done
    echo looking > "$SEEN"
    for _ in $(seq "$((seconds * 10))"); do
        state=$(cut -d ' ' -f 3 "/proc/$pid/stat" 2> /dev/null)
        [ "$state" = S ] || break
        sleep 0.1
    done
    echo data > "$file"
    [ "$state" = S ] || kill -TERM $$
elif [ "$1 $2" = "script -i" ] && [ -s "$3" ]; then
    printf 'server  4242 100.000001:   10000000 cpu-clock:\\n'
    printf '\\t    55d0c0ffee00 hash+0x20 (/srv/server)\\n'
    printf '\\t    7f00deadbeef main+0x10 (/srv/server)\\n\\n'
fi
"""
BUSY = "def busy():\n    while True:\n        sum(range(1000))\nprint('on', flush=True)\nbusy()\n"
# A Go server that is killed while it looks at itself: the head of its response is out.
GO = """
import http.server, os

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "1000")
        self.end_headers()
        self.wfile.flush()
        os._exit(137)

server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture
def perf(monkeypatch, tmp_path):
    """Puts a perf on PATH that can look; the file that it writes when it does."""
    folder, seen = tmp_path / "bin", tmp_path / "seen"
    folder.mkdir()
    (folder / "perf").write_text(PERF)
    (folder / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("SEEN", str(seen))
    return seen


@pytest.fixture
def python():
    """Start a Python that says a line; it, and the line."""
    started = []

    def start(program):
        command = [sys.executable, "-c", program]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        started.append(process)
        return process, process.stdout.readline().decode().strip()

    yield start
    for process in started:
        with process:
            process.kill()


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def test_perf_looks_and_is_asked_what_it_saw(perf, sleeper):
    found = Perf((sleeper.pid,))
    found.check()
    stacks = found.take(1)
    assert (stacks.unit, dict(stacks.weights)) == ("samples", {("server", "main", "hash"): 1})
    assert perf.exists()
    assert not found.is_gone()


def test_what_perf_saw_of_a_process_that_ends_is_kept(perf, sleeper):
    def end():
        wait_until(perf.exists)
        sleeper.kill()

    ending = threading.Thread(target=end)
    ending.start()
    found = Perf((sleeper.pid, os.getpid()))
    assert found.take(60).total == 1
    ending.join()
    # Nobody has waited for it yet, and perf may know of its end before it is over.
    assert wait_until(found.is_gone)


def test_what_py_spy_saw_of_a_process_that_ends_is_kept(python):
    busy, _ = python(BUSY)
    found = PySpy(busy.pid)
    assert not found.is_gone()

    def end():
        wait_until_seen(busy.pid)
        busy.kill()

    ending = threading.Thread(target=end)
    ending.start()
    stacks = found.take(30)
    ending.join()
    # A look at a process that ends may see less of it than its functions.
    assert max(stacks.top(), key=lambda row: row.flat).name.startswith("busy (")
    assert stacks.total < 30 * tools.HERTZ
    assert wait_until(found.is_gone)


def test_a_go_server_that_ends_takes_its_profile_along(python):
    _, port = python(GO)
    found = Pprof(f"http://127.0.0.1:{port}/debug/pprof")
    assert not found.is_gone()
    with pytest.raises(UsageError, match="/debug/pprof/profile"):
        found.take(30)
    assert wait_until(found.is_gone)


def test_a_go_server_that_is_too_slow_to_be_reached_is_not_known_to_be_gone(monkeypatch):
    def waits(*_):
        raise TimeoutError("timed out")

    monkeypatch.setattr("torr.profile.go.socket.create_connection", waits)
    assert not Pprof("http://127.0.0.1:6060/debug/pprof").is_gone()


def test_of_processes_that_can_be_asked_for_memory_the_first_counts(sleeper):
    found = Memray((sleeper.pid, os.getpid()))
    assert not found.is_gone()
    sleeper.kill()
    assert wait_until(found.is_gone)
