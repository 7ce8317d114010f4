"""`--profile`: a trial more that taints nothing, and what becomes of one that fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from candidates import GOOD, lasting
from events import ask
from installed import Ended, children_of, wait_until, wait_until_seen, words_of

pytestmark = pytest.mark.full

SERVER = """
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.think()
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def think(self):
        sum(range(500_000))

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
print(server.server_port, flush=True)
server.serve_forever()
"""
LOAD = ("-c", "2", "-z", "2s", "--warmup", "500ms", "--drain", "1s")


@pytest.fixture
def server(tmp_path):
    """A Python server that thinks before it answers; its URL and its process."""
    (tmp_path / "server.py").write_text(SERVER)
    command = [sys.executable, tmp_path / "server.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        url = f"http://127.0.0.1:{process.stdout.readline().strip()}/"
        assert ask(url)[0] == 200
        yield url, process
        process.kill()


@pytest.fixture
def program(tmp_path):
    """Writes the same server with a port that it is told, and the command that starts it."""

    def made(name):
        text = SERVER.replace("import http.server", "import http.server, sys", 1)
        text = text.replace('("127.0.0.1", 0)', '("127.0.0.1", int(sys.argv[1]))')
        (tmp_path / f"{name}.py").write_text(text)
        return f'["{sys.executable}", "{tmp_path}/{name}.py", "{{port}}"]'

    return made


def test_where_the_time_went_is_seen_in_a_trial_of_its_own(torr, server):
    url, process = server
    ended = torr("run", *LOAD, "--profile", process.pid, url)
    assert ended.code == 0, ended.err
    assert len(ended.result["levels"]) == 1
    (profile,) = ended.result["profiles"]
    assert (profile["tool"], profile["failure"], profile["concurrency"]) == ("py-spy", None, 2)
    assert "think (server.py" in profile["folded"]
    assert profile["ok_per_s"] > 0
    assert isinstance(profile["cost_rate"], float)
    page = (ended.folder / "_output/torr/latest/report.html").read_text()
    assert "Where the time went, by py-spy at 2 connections" in page
    said = ended.out.partition("Where the time went, by py-spy at 2 connections: ")[2]
    assert " ".join(said.splitlines()[1].split()) == "function self total"
    (line,) = [line for line in ended.out.splitlines() if line.startswith("flame   ")]
    assert line.endswith("/flame.svg")
    assert "do_GET (server.py" in (ended.folder / "_output/torr/latest/flame.svg").read_text()


def test_a_ladder_is_profiled_at_the_level_asked_for(torr, server):
    url, process = server
    more = ("--levels", "1,2", "--profile", process.pid, "--profile-at", "4")
    ended = torr("ladder", *LOAD[2:], *more, url)
    assert ended.code == 0, ended.err
    assert [level["concurrency"] for level in ended.result["levels"]] == [1, 2]
    (profile,) = ended.result["profiles"]
    assert (profile["concurrency"], profile["cost_rate"]) == (4, None)


def test_a_profiler_that_fails_costs_the_profile_alone(torr, server, tmp_path):
    url, process = server
    tool = tmp_path / "bin" / "perf"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 'Permission denied' >&2\nexit 1\n")
    tool.chmod(0o755)
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
        ended = torr("run", *LOAD, "--profile", sleeper.pid, url, env=environment)
        sleeper.kill()
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] > 0
    (profile,) = ended.result["profiles"]
    assert (profile["folded"], profile["failure"]["text"]) == (None, "perf: Permission denied")
    page = (ended.folder / "_output/torr/latest/report.html").read_text()
    assert "no profile: perf: Permission denied" in page
    assert process.poll() is None


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (("--profile", "99999999"), "there is no process 99999999"),
        (("--profile", "server"), "'server' cannot be profiled"),
        (("--profile", f"memory:{os.getpid()}"), "does not report its memory"),
        (("--profile", "http://127.0.0.1:1/debug/pprof"), "Connection refused"),
        (("--profile-at", "5"), "--profile-at is given without --profile"),
    ],
)
def test_what_cannot_be_profiled_is_refused_before_any_load(torr, own_steady, what, message):
    ended = torr("run", *LOAD, *what, own_steady.url)
    assert ended.code == 2
    assert message in ended.err
    assert own_steady.stop()["requests"] == 0


def test_arrivals_have_no_users_to_profile_at(torr, steady, server):
    more = ("--rate", "50", "--profile", server[1].pid, "--profile-at", "5")
    ended = torr("run", *LOAD[2:], *more, steady.url)
    assert ended.code == 2
    assert "--profile-at is a number of users, and a load with a rate has none" in ended.err


def test_ctrl_c_in_the_trial_of_the_profile_waits_for_no_profiler(start, server, tmp_path):
    url, process = server
    load = ("-c", "2", "--requests", "20", "--warmup", "0s")
    running = start("run", *load, "--profile", process.pid, url)
    kept = tmp_path / "_output/torr/latest/result.json"
    wait_until(kept.exists)
    wait_until_seen(process.pid)
    running.send_signal(signal.SIGINT)
    running.wait(timeout=120)
    found = json.loads(kept.read_text())
    assert found["levels"][0]["counts"]["ok"] == 20
    assert found["profiles"][0]["failure"]["code"] == "profile.interrupted"


def looked_at_by(running):
    """The process that py-spy looks at for a command, where it does."""
    for child in children_of(running.pid):
        words = words_of(child)
        if words and Path(words[0]).name == "py-spy" and "record" in words:
            return int(words[words.index("-p") + 1])
    return None


def killed_in_mid_profile(running, folder):
    """What becomes of a command whose first target is killed while py-spy looks at it."""
    pid = wait_until(lambda: looked_at_by(running), 120)
    wait_until_seen(pid)
    os.kill(pid, signal.SIGKILL)
    out, err = running.communicate(timeout=120)
    return Ended(running.returncode, out, err, folder)


def test_a_target_that_ends_in_mid_profile_is_told(start, server, tmp_path):
    url, process = server
    load = ("-c", "2", "-z", "5s", "--warmup", "0s", "--drain", "1s")
    ended = killed_in_mid_profile(start("run", *load, "--profile", process.pid, url), tmp_path)
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] > 0
    assert ended.level["counts"]["errors"] == {}
    (profile,) = ended.result["profiles"]
    assert "think (server.py" in profile["folded"]
    assert (profile["failure"], profile["cost_rate"]) == (None, None)
    assert profile["note"]["code"] == "profile.target_ended"
    assert "the cost of profiling is not known; the target ended during the profile" in ended.out


def test_a_server_that_ends_in_mid_profile_is_told_with_how_it_ended(
    start, matrix, program, tmp_path
):
    top = lasting("3s")
    file = matrix({"one": program("one"), "two": program("two")}, top)
    ended = killed_in_mid_profile(start("compare", file, "--profile", "cpu"), tmp_path)
    assert ended.code == 0, ended.err
    assert {each["candidate"] for each in ended.result["levels"]} == {"one", "two"}
    first, second = ended.result["profiles"]
    assert "do_GET (one.py" in first["folded"]
    assert (first["failure"], first["cost_rate"]) == (None, None)
    assert first["note"]["text"] == "one: it ended by itself: signal 9 (SIGKILL)"
    assert f"not known; {first['note']['text']}" in ended.out
    assert (second["failure"], second["note"]) == (None, None)
    assert isinstance(second["cost_rate"], float)


def test_memory_of_compared_servers_is_seen_where_they_are_python(torr, matrix, program):
    asked = ("--rounds", "1", "--profile", "memory")
    ended = torr("compare", matrix({"one": program("one"), "two": GOOD}), *asked)
    assert ended.code == 0, ended.err
    profile, none = ended.result["profiles"]
    assert (profile["candidate"], profile["tool"], profile["unit"]) == ("one", "memray", "bytes")
    assert "do_GET (one.py:" in profile["folded"]
    page = (ended.folder / "_output/torr/latest/report.html").read_text()
    assert "Where the memory went in one, by memray at 2 connections" in page
    assert (none["candidate"], none["kind"]) == ("two", "memory")


def test_servers_under_comparison_are_profiled_behind_their_rounds(torr, matrix, program):
    asked = ("--rounds", "1", "--profile", "cpu")
    ended = torr("compare", matrix({"one": program("one"), "two": program("two")}), *asked)
    assert ended.code == 0, ended.err
    assert len(ended.result["levels"]) == 2
    found = ended.result["profiles"]
    assert [(x["candidate"], x["tool"], x["failure"]) for x in found] == [
        ("one", "py-spy", None),
        ("two", "py-spy", None),
    ]
    assert all("do_GET (" in profile["folded"] for profile in found)
    assert all(isinstance(profile["cost_rate"], float) for profile in found)


def test_the_plan_says_how_long_profiles_take(torr, matrix, program):
    asked = ("--plan", "--profile", "cpu", "--profile-at", "2")
    ended = torr("compare", *asked, matrix({"one": program("one"), "two": program("two")}))
    assert ended.code == 0, ended.err
    assert "then 2 profiles, about 26 s more" in ended.out


def test_profiles_that_cannot_be_taken_cost_no_trial(torr, matrix, program):
    url = "http://127.0.0.1:{port}/debug/pprof/profile"
    candidates = {"one": program("one"), "two": '["no-such-server"]'}
    ended = torr("compare", matrix(candidates), "--rounds", "1", "--profile", url)
    assert len(ended.result["levels"]) == 1
    first, second = (profile["failure"]["text"] for profile in ended.result["profiles"])
    assert "not a profile of pprof" in first
    assert "no-such-server" in second


def test_a_cell_that_is_not_there_is_refused_before_anything_starts(torr, matrix, program):
    asked = ("--profile", "cpu", "--profile-at", "977")
    ended = torr("compare", matrix({"one": program("one"), "two": program("two")}), *asked)
    assert ended.code == 2
    assert "no cell has this number of connections" in ended.err
    assert "one of 2" in ended.err
