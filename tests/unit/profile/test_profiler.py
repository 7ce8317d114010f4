"""Profilers: found, checked, and what they say when they cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from pathlib import Path

import pytest

from installed import wait_until
from pprof_bytes import BOTH, profile
from torr.errors import UsageError
from torr.model.profiling import ProfileRequest
from torr.profile import busiest, tools
from torr.profile.go import Pprof
from torr.profile.memory import Memray
from torr.profile.perf import Perf, parse_perf_script
from torr.profile.profiler import check_for, profiler_of
from torr.profile.pyspy import PySpy

BUSY = b"Could not enable CPU profiling: cpu profiling already in use\n"
WORK = "def busy():\n    while True:\n        sum(range(1000))\nprint('on', flush=True)\nbusy()\n"


@pytest.fixture
def busy():
    """A Python that works in one function."""
    with subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.kill()


@pytest.fixture
def go():
    """What a Go server serves at /debug/pprof/, and what was asked of it."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            asked.append(self.path)
            body = profile(*BOTH) if "profile" in self.path else b"<html>index</html>"
            code, kind = 404 if self.path.startswith("/none") else 200, "text/html"
            if self.path.startswith("/busy"):
                code, kind, body = 500, "text/plain; charset=utf-8", BUSY
            if self.path.startswith("/moved"):
                code = 302
            self.send_response(code)
            if self.path.startswith("/moved"):
                self.send_header("location", "/debug/pprof/")
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.parametrize("path", ["/debug/pprof", "/debug/pprof/", "/debug/pprof/profile"])
def test_a_go_server_looks_at_itself(go, path):
    url, asked = go
    found = profiler_of(ProfileRequest.parse(url + path))
    found.check()
    stacks = found.take(2)
    assert asked == ["/debug/pprof/", "/debug/pprof/profile?seconds=2"]
    assert (found.tool, stacks.unit, stacks.total) == ("pprof", "ns", 40_000_000)


def test_a_server_without_pprof_is_said(go):
    with pytest.raises(UsageError, match="HTTP Error 404") as caught:
        Pprof(f"{go[0]}/none").check()
    assert "net/http/pprof" in caught.value.hint


def test_what_a_go_server_says_is_said(go):
    with pytest.raises(UsageError) as caught:
        Pprof(f"{go[0]}/busy").take(1)
    assert caught.value.message.endswith(
        "/busy/profile?seconds=1: HTTP Error 500: Internal Server Error: Could not enable CPU"
        " profiling: cpu profiling already in use"
    )
    assert caught.value.hint is None


def test_a_proxy_of_the_environment_is_not_asked(go, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    Pprof(f"{go[0]}/debug/pprof").check()
    assert go[1] == ["/debug/pprof/"]


def test_no_redirect_is_followed(go):
    url, asked = go
    with pytest.raises(UsageError, match="HTTP Error 302"):
        Pprof(f"{url}/moved").check()
    assert asked == ["/moved/"]


def test_an_answer_that_is_too_long_is_refused(go, monkeypatch):
    monkeypatch.setattr("torr.profile.go.pprof.MOST_BYTES", 10)
    with pytest.raises(UsageError, match="its response is larger than"):
        Pprof(f"{go[0]}/debug/pprof").check()


def test_a_server_that_is_gone_is_said():
    with pytest.raises(UsageError, match="Connection refused"):
        Pprof("http://127.0.0.1:1/debug/pprof").check()


def test_a_python_is_looked_at_by_py_spy(busy):
    found = profiler_of(ProfileRequest(pid=busy.pid))
    found.check()
    assert isinstance(found, PySpy)
    stacks = found.take(1)
    assert stacks.unit == "samples"
    assert any(row.name.startswith("busy") for row in stacks.top()[:3])
    # Its id is that of no other run, and its command line may have secrets.
    assert not any(name.startswith("process ") for stack in stacks.weights for name in stack)


def test_whatever_is_no_python_is_looked_at_by_perf():
    with subprocess.Popen(["sleep", "30"]) as process:
        assert profiler_of(ProfileRequest(pid=process.pid)) == Perf((process.pid,))
        process.kill()


def test_of_a_server_the_uppermost_python_is_looked_at_else_all_of_it(busy):
    with subprocess.Popen(["sleep", "30"]) as other:
        assert profiler_of(ProfileRequest(), [other.pid, busy.pid]) == PySpy(busy.pid)
        assert profiler_of(ProfileRequest(), [other.pid]).tool == "perf"
        assert profiler_of(ProfileRequest("memory"), [other.pid, busy.pid]) == Memray((busy.pid,))
        with pytest.raises(UsageError, match="needs a Python process, and there is none"):
            profiler_of(ProfileRequest("memory"), [other.pid])
        other.kill()


@pytest.mark.parametrize(
    ("ticks", "found"),
    [
        ({7: [900, 901], 8: [10, 29]}, 8),  # it began the others, and rests
        ({7: [900, 900], 8: [10, 10]}, 7),
        ({7: [900, -1], 8: [10, 10]}, 8),  # it is gone
        ({7: [900], 8: [10, 10, 10, 11]}, 8),  # it got no core for two looks
    ],
)
def test_the_busiest_process_is_the_one_that_works_now(monkeypatch, ticks, found):
    monkeypatch.setattr(busiest, "_INTERVAL_S", 0)
    looks = {pid: chain(seen, repeat(seen[-1])) for pid, seen in ticks.items()}
    monkeypatch.setattr(busiest, "_cpu_ticks", lambda pid: next(looks[pid]))
    assert busiest.busiest((7, 8)) == found


def test_memory_is_that_of_the_python_that_works(busy):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as idle:
        stat = Path(f"/proc/{busy.pid}/stat")
        wait_until(lambda: int(stat.read_text().rpartition(")")[2].split()[11]) > 50)
        found = profiler_of(ProfileRequest("memory"), [idle.pid, busy.pid])
        assert found == Memray((idle.pid, busy.pid))
        assert busiest.busiest(found.pids) == busy.pid
        idle.kill()


def test_a_process_that_is_gone_is_said():
    with subprocess.Popen(["true"]) as process:
        process.wait()
    with pytest.raises(UsageError, match=rf"--profile {process.pid}: No such file"):
        profiler_of(ProfileRequest(pid=process.pid))


@pytest.mark.parametrize(
    ("made", "hint"),
    [
        (PySpy(os.getpid()), "pip install py-spy"),
        (Perf((os.getpid(),)), "linux-perf"),
    ],
)
def test_a_tool_that_is_missing_is_said_before_any_load(monkeypatch, made, hint):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(tools.sys, "executable", "/nowhere/python")
    with pytest.raises(UsageError, match="which is not installed") as caught:
        made.check()
    assert hint in caught.value.hint


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Leaves only the named tools installed."""

    def only(*names):
        monkeypatch.setattr(tools.sys, "executable", "/nowhere/python")
        monkeypatch.setenv("PATH", str(tmp_path))
        for name in names:
            (tmp_path / name).write_text("#!/bin/sh\n")
            (tmp_path / name).chmod(0o755)

    return only


@pytest.mark.parametrize(
    ("names", "programs"),
    [
        (("py-spy",), ["/opt/venv/bin/python3.12", "./server"]),
        (("perf",), ["./server", "uvicorn"]),
    ],
)
def test_servers_can_be_looked_at_with_what_is_installed(installed, names, programs):
    installed(*names)
    check_for(programs)


@pytest.mark.parametrize(
    ("names", "programs", "message"),
    [
        (("perf",), ["./server", "/opt/venv/bin/python3.12"], "needs py-spy, which is not"),
        ((), ["./server"], "needs py-spy or perf, and neither is installed"),
    ],
)
def test_tools_that_servers_need_are_said_before_any_is_started(
    installed, names, programs, message
):
    installed(*names)
    with pytest.raises(UsageError, match=message) as caught:
        check_for(programs)
    assert "pip install py-spy" in caught.value.hint


def test_a_tool_that_may_not_look_is_said_with_what_it_takes(monkeypatch, tmp_path):
    tool = tmp_path / "perf"
    tool.write_text("#!/bin/sh\necho 'perf_event_open: Permission denied' >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(UsageError, match="perf: perf_event_open: Permission denied") as caught:
        Perf((1,)).take(1)
    assert "CAP_PERFMON" in caught.value.hint


def test_what_perf_writes_is_read_into_stacks():
    text = """\
server  4242 100.000001:   10000000 cpu-clock:
\t    55d0c0ffee00 hash+0x20 (/srv/server)
\t    55d0c0ffee10 serve (/srv/server)
\t    7f00deadbeef main+0x10 (/srv/server)

server  4242 100.010001:   10000000 cpu-clock:
\t    55d0c0ffee10 serve (/srv/server)
\t    7f00deadbeef main+0x10 (/srv/server)

"""
    assert parse_perf_script(text).weights == {
        ("server", "main", "serve", "hash"): 1,
        ("server", "main", "serve"): 1,
    }
    assert parse_perf_script("").weights == {}


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        (
            "std::function<void (int)>::operator()(int) const+0x20 (/srv/server)",
            "std::function<void (int)>::operator()(int) const",
        ),
        ("f(std::pair<int, int> (*)(int)) (/srv/server)", "f(std::pair<int, int> (*)(int))"),
        (
            "<[u8; 32] as core::fmt::Debug>::fmt+0x1 (/srv/it)",
            "<[u8; 32] as core::fmt::Debug>::fmt",
        ),
        ("serve (/srv/server (deleted))", "serve"),
        ("serve+0x1 (/srv/server (deleted))", "serve"),
        ("push(int) (inlined)", "push(int)"),
        ("[unknown] ([unknown])", "[unknown]"),
        ("do_syscall_64+0x5b ([kernel.kallsyms])", "do_syscall_64"),
    ],
)
def test_names_of_frames_are_whole(frame, name):
    text = f"server  4242 100.000001:   10000000 cpu-clock:\n\t    55d0c0ffee00 {frame}\n"
    assert list(parse_perf_script(text).weights) == [("server", name)]
