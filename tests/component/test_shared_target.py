"""`torr target … --processes N`: several processes behind one port, counted as one."""

from __future__ import annotations

import json
import os
import signal

import pytest

from installed import children_of, is_running, wait_until


def test_the_counts_of_all_processes_are_added(torr, target):
    running = target("hello", "--processes", 3)
    flags = ("--requests", 300, "--warmup", "0s", "-c", 5, "--no-keepalive")
    level = torr("run", *flags, "--processes", 2, running.url).level
    assert level["counts"]["ok"] == 300
    counts = running.stop()
    assert (counts["connections"], counts["requests"], counts["answered"]) == (300, 300, 300)
    assert counts["bytes_out"] == level["bytes_in"]
    assert counts["faults"] == {}


def test_faults_of_all_processes_are_added(torr, target):
    running = target("faulty", "--fault", "status_503", "--share", "50%", "--processes", 2)
    level = torr("run", "--requests", 200, "--warmup", "0s", "--no-keepalive", running.url).level
    counts = running.stop()
    assert counts["requests"] == 200
    assert counts["faults"]["status_503"] == level["counts"]["errors"]["status"] > 0


@pytest.mark.parametrize("words", [("bytes",), ("delay", "--delay", "1ms"), ("hello", "--json")])
def test_other_targets_share_a_port_too(torr, target, words):
    running = target(*words, "--processes", 2, "--host", "::1")
    assert torr("run", "--requests", 20, "--warmup", "0s", running.url).level["counts"]["ok"] == 20
    assert running.stop()["requests"] == 20


def test_an_interrupt_of_the_whole_terminal_ends_it_with_its_counts(target):
    running = target("hello", "--processes", 2, start_new_session=True)
    os.killpg(running.process.pid, signal.SIGINT)
    out, err = running.process.communicate(timeout=60)
    assert (running.process.returncode, err) == (0, "")
    assert json.loads(out)["requests"] == 0


def test_processes_end_with_who_started_them(target):
    running = target("hello", "--processes", 3)
    children = children_of(running.process.pid)
    assert len(children) == 3
    running.process.kill()
    running.process.wait()
    wait_until(lambda: not any(map(is_running, children)))


def test_a_process_that_is_killed_is_told_and_the_others_are_counted(torr, target):
    running = target("hello", "--processes", 2)
    os.kill(children_of(running.process.pid)[0], signal.SIGKILL)
    wait_until(lambda: len(children_of(running.process.pid)) == 1)
    torr("run", "--requests", 20, "--warmup", "0s", running.url)
    running.process.send_signal(signal.SIGTERM)
    out, err = running.process.communicate(timeout=60)
    assert running.process.returncode == 2
    assert "of 2 ended early (signal 9): its requests are not counted" in err
    assert json.loads(out)["requests"] == 20


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("delay", "--capacity", 4), "capacity: one queue needs one process"),
        (("delay", "--log", "truth.csv"), "log: one file needs one process"),
        (("faulty", "--fault", "no_accept"), "no_accept: its full queue needs one process"),
    ],
)
def test_what_only_one_process_can_be_is_refused(torr, words, says):
    ended = torr("target", *words, "--processes", 2)
    assert ended.code == 2
    assert says in ended.err


def test_a_port_in_use_is_refused(torr, steady):
    port = steady.url.rpartition(":")[2]
    ended = torr("target", "hello", "--processes", 2, "--port", port)
    assert ended.code == 2
    assert f"--port {port}: cannot listen on 127.0.0.1" in ended.err
