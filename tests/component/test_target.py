"""`torr target`: says where it listens, serves, and tells what it did."""

from __future__ import annotations

import csv
import json
import signal
import urllib.request

import pytest


def fetch(url):
    with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 - our own target
        return answer.read()


def test_hello_answers_text_or_json(target):
    assert fetch(target("hello").url) == b"Hello world"
    assert json.loads(fetch(target("hello", "--json").url)) == {"status": "ok"}


def test_bytes_have_the_size_asked_for(target):
    assert len(fetch(target("bytes", "--size", "10KiB").url)) == 10240
    assert len(fetch(target("bytes", "--size", "10KiB", "--chunked").url)) == 10240


MS = 1_000_000


@pytest.mark.parametrize(
    ("shape", "least_ns", "most_ns"),
    [
        (("--bimodal", "1ms,2ms,0%"), MS, MS),
        (("--bimodal", "1ms,2ms,100%"), 2 * MS, 2 * MS),
        (("--heavy", "1ms,0"), MS, MS),
        (("--delay", "3ms"), 3 * MS, 3 * MS),
    ],
)
def test_delays_have_the_shape_asked_for(target, tmp_path, shape, least_ns, most_ns):
    running = target("delay", *shape, "--log", tmp_path / "truth.csv")
    fetch(running.url)
    running.stop()
    with (tmp_path / "truth.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert least_ns <= int(row["delay_ns"]) <= most_ns


def test_a_target_prints_its_counts_at_the_end(target):
    running = target("hello")
    fetch(running.url)
    running.process.send_signal(signal.SIGINT)
    out, err = running.process.communicate(timeout=120)
    assert running.process.returncode == 0
    assert err == ""
    counts = json.loads(out)
    assert (counts["connections"], counts["requests"], counts["answered"]) == (1, 1, 1)


def test_a_target_can_end_by_itself(torr):
    ended = torr("target", "hello", "--for", "200ms")
    assert ended.code == 0
    assert json.loads(ended.out.splitlines()[-1])["requests"] == 0


def test_a_port_in_use_is_refused(torr, steady):
    ended = torr("target", "hello", "--port", steady.url.rpartition(":")[2])
    assert ended.code == 2
    assert "--port" in ended.err


def test_a_target_listens_on_ipv6(target):
    running = target("hello", "--host", "::1")
    assert running.url.startswith("http://[::1]:")
    assert fetch(running.url) == b"Hello world"


def test_a_delay_logs_the_truth(target, tmp_path):
    running = target("delay", "--delay", "1ms", "--log", tmp_path / "truth.csv")
    fetch(running.url)
    running.stop()
    with (tmp_path / "truth.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    times = {name.removesuffix("_ns"): int(ns) for name, ns in row.items()}
    assert (times["delay"], times["queued"]) == (1_000_000, 0)
    assert times["planned"] - times["received"] == 1_000_000
    assert times["sent"] >= times["planned"]


def test_the_faults_are_listed(torr):
    ended = torr("target", "faulty", "--list")
    assert "reset_in_body" in ended.out.splitlines()
