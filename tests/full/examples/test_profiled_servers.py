"""A server in Go profiled as its user would: by the URL of its pprof."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from installed import TORR, Ended, wait_until
from torr.profile.go import Pprof

LOAD = ("-c", "4", "--warmup", "0s", "--drain", "1s")


@pytest.fixture
def slow(go_servers, free_ports):
    """The example that dumps every request: its URL, that of its pprof, and its process."""
    port = free_ports[0]
    command = [go_servers / "slow", "-port", "0", "-pprof", f"127.0.0.1:{port}"]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    with process:
        url = re.match(r"listening on (\S+)\n", process.stdout.readline())[1]
        # Its log is a line for every request: nobody may read it, and it must not fill a pipe.
        reader = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
        pprof = f"http://127.0.0.1:{port}/debug/pprof"
        wait_until(lambda: not Pprof(pprof).is_gone())
        yield url, pprof, process
        process.kill()
        reader.wait()


@pytest.fixture
def begun(slow, tmp_path):
    """Begin a run that profiles it, for so long."""
    url, pprof, _ = slow
    running = []

    def begin(seconds):
        command = [TORR, "run", *LOAD, "-z", f"{seconds}s", "--profile", pprof, url]
        running.append(
            subprocess.Popen(
                list(map(str, command)),
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return running[0]

    yield begin
    for process in running:
        with process:
            process.kill()


def ended_of(running, folder):
    out, err = running.communicate(timeout=120)
    return Ended(running.returncode, out, err, folder)


def test_a_go_server_is_profiled_by_its_url(begun, tmp_path):
    ended = ended_of(begun(3), tmp_path)
    assert ended.code == 0, ended.err
    (profile,) = ended.result["profiles"]
    assert (profile["tool"], profile["unit"], profile["failure"]) == ("pprof", "ns", None)
    assert profile["note"] is None
    assert isinstance(profile["cost_rate"], float)
    (dumping, *_) = [line for line in profile["folded"].splitlines() if "main.dump" in line]
    # Callers come first: net/http calls gin, which calls what dumps.
    calls = dumping.rpartition(" ")[0].split(";")
    places = [
        next(at for at, name in enumerate(calls) if name.startswith(begin))
        for begin in ("net/http.", "github.com/gin-gonic/gin.", "main.dump")
    ]
    assert places == sorted(places)
    summary = (tmp_path / "_output/torr/latest/summary.md").read_text()
    assert "## Functions by time, by pprof at 4 connections" in summary
    assert "syscall" in summary.partition("## Functions by time")[2]


def test_a_go_server_that_ends_in_mid_profile_is_told(begun, slow, tmp_path):
    running = begun(4)
    kept = tmp_path / "_output/torr/latest/result.json"
    wait_until(lambda: kept.exists() and json.loads(kept.read_text())["levels"], 120)
    slow[2].kill()
    ended = ended_of(running, tmp_path)
    assert ended.code == 0, ended.err
    assert ended.level["counts"]["ok"] > 0
    assert ended.level["counts"]["errors"] == {}
    (profile,) = ended.result["profiles"]
    assert (profile["folded"], profile["cost_rate"]) == (None, None)
    assert "/debug/pprof/profile?seconds=4" in profile["failure"]["text"]
    assert profile["note"]["code"] == "profile.target_ended"
    assert "; the target ended during the profile" in ended.out
