"""Calls against a real target: results, progress, Ctrl-C, threads, and what is left on disk."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import torr
from doubles import Truth, press_at
from torr import engine
from torr.errors import NothingMeasuredError, OutputError, UsageError
from torr.results.level import Interval
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.store import Store

QUICK = {"duration": "300ms", "warmup": 0, "connections": 2}


class StopNowError(Exception):
    """Raised by a test's progress."""


@pytest.fixture
def slow_python():
    """A server in Python, in threads of this very process; its URL and the names of what it got."""
    got = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            got.append(self.path)
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/x", got
    server.shutdown()
    thread.join()
    server.server_close()


def kept(place):
    return json.loads((place / "_output/torr/latest/result.json").read_text())


def test_several_urls_go_in_turn_by_weight(slow_python):
    url, got = slow_python
    result = torr.run(
        [url, url + "/y"], requests=60, warmup=0, connections=2, workers=1, weights=[2, 1]
    )
    assert {step.name for step in result.level.requests} == {"GET /x", "GET /x/y"}
    assert sum(step.counts.ok for step in result.level.requests) == len(got) == 60


def test_a_file_of_requests_needs_no_url(url, place):
    (place / "r.http").write_text(f"GET {url}/a\n")
    result = torr.run(requests_file=place / "r.http", **QUICK)
    assert result.counts.ok > 0
    with pytest.raises(UsageError, match="URL is missing"):
        torr.run()


def test_a_run_gives_the_numbers_of_its_level(url, place, capfd):
    # A median needs 20 responses, however busy the machine is.
    result = torr.run(url, connections=2, requests=100, warmup=0, slo="p50 < 10s")
    assert result.kind == "run"
    assert result.status == "complete"
    assert result.counts.ok > 0
    assert result.success_rate == 100
    assert result.latency.service.p50 <= result.latency.response.max
    assert result.latency.tls.p99 is None
    assert result.passed == (result.health != "generator-limited")
    assert result.directory == (place / "_output/torr/latest").resolve()
    assert capfd.readouterr() == ("", "")


def test_what_is_kept_says_the_command_that_does_the_same(url, place):
    torr.run(url, **QUICK, headers={"authorization": "hush"}, basic_auth=("ann", "hush"))
    command = kept(place)["command"]
    assert command[:4] == ["torr", "run", "--duration", "300ms"]
    assert command[-1] == url
    assert "hush" not in (place / "_output/torr/latest/result.json").read_text()


def test_nothing_is_drawn_until_it_is_asked_for(url):
    result = torr.run(url, **QUICK)
    names = {path.name for path in result.directory.iterdir()}
    assert names == {"result.json", "intervals.jsonl"}
    page = result.report()
    assert page == result.directory / "report.html"
    assert result.verdict.partition("(")[0] in page.read_text().replace("\u00a0", " ")
    drawn = page.stat().st_mtime_ns
    assert result.report().stat().st_mtime_ns == drawn


def test_a_ladder_gives_its_capacity(fake):
    fake.curve = lambda users: Truth(ok_per_s=min(users, 4) * 1000.0, service_ms=max(users, 4) / 4)
    result = torr.ladder("http://127.0.0.1:9/", levels=[1, 2, 4, 8], slo="p95 < 2ms")
    assert result.peak.ok_per_s == 4000
    assert result.knee.concurrency == 4
    assert result.under_slo.concurrency == 4
    assert [level.concurrency for level in result.levels] == [1, 2, 4, 8]
    with pytest.raises(UsageError, match="apiserver has 4 levels, not one"):
        _ = result.latency


def test_a_broken_slo_is_told_and_not_raised(fake):
    fake.curve = lambda _users: Truth(service_ms=50)
    result = torr.run("http://127.0.0.1:9/", slo=["p95 < 5ms"])
    assert not result.passed
    assert result.verdicts[0].word == "broken"
    assert result.verdict.startswith("Breaks p95 under 5 ms (75")


@pytest.mark.usefixtures("fake")
def test_progress_hears_every_interval_in_its_own_thread():
    heard = []
    torr.ladder(
        "http://127.0.0.1:9/",
        levels=[1, 2],
        progress=lambda piece: heard.append((piece, threading.current_thread())),
    )
    pieces = [piece for piece, _ in heard]
    assert all(isinstance(piece, Interval) for piece in pieces)
    assert [(p.level, p.concurrency, p.t_s) for p in pieces[:2]] == [(0, 1, -1.0), (0, 1, 0.0)]
    assert {p.level for p in pieces} == {0, 1}
    assert {thread for _, thread in heard} == {threading.current_thread()}


def test_what_progress_raises_ends_the_load_and_is_raised(url, place):
    def stop(_piece):
        raise StopNowError("enough")

    with pytest.raises(StopNowError, match="enough"):
        torr.run(url, duration="60s", warmup=0, connections=2, progress=stop)
    result = torr.load(place / "_output/torr/latest")
    assert result.status == "interrupted"
    assert result.level.cut_short
    counts = result.counts
    assert counts.attempted == counts.ok + sum(counts.errors.values()) + counts.in_flight > 0


def test_progress_is_called_no_more_when_it_has_raised(fake):
    calls = []

    def stop(piece):
        calls.append(piece)
        raise StopNowError

    fake.interval_count = 50
    with pytest.raises(StopNowError):
        torr.ladder("http://127.0.0.1:9/", levels=[1, 2, 3], progress=stop)
    assert len(calls) == 1
    assert fake.concurrencies == [1]
    assert fake.loads[0].aborted


def test_ctrl_c_keeps_what_was_measured_and_goes_on(url, place):
    heard = []

    def press(piece):
        heard.append(piece)
        if len(heard) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="everything measured is stored in"):
        torr.run(url, duration="60s", warmup=0, connections=2, progress=press)
    assert torr.load(place / "_output/torr/latest").status == "interrupted"
    assert kept(place)["levels"][0]["counts"]["ok"] > 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_ends_a_ladder_between_its_levels(fake, place):
    fake.on_interval = press_at(1)
    with pytest.raises(KeyboardInterrupt):
        torr.ladder("http://127.0.0.1:9/", levels=[1, 2, 3])
    assert fake.concurrencies == [1]
    assert len(kept(place)["levels"]) == 1


def test_a_second_ctrl_c_ends_the_load_at_once(fake):
    fake.on_interval = press_at(1, times=2)
    with pytest.raises(KeyboardInterrupt):
        torr.run("http://127.0.0.1:9/")
    assert fake.loads[0].aborted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_program_that_ignores_ctrl_c_goes_on_ignoring_it(fake):
    fake.on_interval = press_at(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert torr.run("http://127.0.0.1:9/").status == "complete"
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_run_works_in_a_thread(url):
    results = []
    thread = threading.Thread(target=lambda: results.append(torr.run(url, **QUICK)))
    thread.start()
    thread.join()
    assert results[0].counts.ok > 0


class Watched:
    """A load that counts how often somebody waits for it."""

    def __init__(self, load):
        self.load, self.waits = load, 0

    def next_interval(self, timeout_s):
        self.waits += 1
        return self.load.next_interval(timeout_s)

    def __getattr__(self, name):
        return getattr(self.load, name)


def test_other_threads_work_while_a_load_runs(url, monkeypatch):
    """Had the waiting caller the interpreter, another thread would get one turn a wait."""
    turns, loads, over = [0], [], threading.Event()
    start = engine.start

    def watched(plan):
        loads.append(Watched(start(plan)))
        turns[0] = 0
        return loads[-1]

    def count():
        while not over.is_set():
            turns[0] += 1
            time.sleep(0)

    def see(_piece):
        if turns[0] > 10 * loads[0].waits + 100:
            raise StopNowError

    monkeypatch.setattr("torr.engine.start", watched)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(StopNowError):
            torr.run(url, duration="20s", warmup=0, connections=2, progress=see)
    finally:
        over.set()
        thread.join()


def test_a_server_in_the_same_interpreter_answers(slow_python):
    url, got = slow_python
    assert torr.once(url).status == 200
    result = torr.run(url, requests=20, warmup=0, connections=2)
    assert result.counts.ok == 20
    assert got == ["/x"] * 21


def test_once_keeps_both_sides(url):
    answer = torr.once(url, method="PUT", body=b"\xff", headers={"x-user": "ann"})
    assert (answer.status, answer.is_ok) == (200, True)
    assert answer.sent.startswith(b"PUT / HTTP/1.1\r\n")
    assert b"x-user: ann\r\n" in answer.sent
    assert answer.sent.endswith(b"\r\n\r\n\xff")
    assert dict(answer.headers)["content-length"] == "11"
    assert (answer.body, answer.trailers) == (b"Hello world", ())
    assert answer.connect_ms > 0
    assert answer.tls_ms is None


def test_once_says_whether_the_status_is_accepted(url):
    answer = torr.once(url, expect_status="404")
    assert (answer.status, answer.is_ok) == (200, False)


def nobody():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{closed.getsockname()[1]}/"


def test_where_nobody_listens_nothing_is_measured(place):
    url = nobody()
    with pytest.raises(NothingMeasuredError, match=r"tried GET .*connect\.refused"):
        torr.run(url, duration="20s", timeout="500ms")
    assert kept(place)["status"] == "failed"
    with pytest.raises(NothingMeasuredError, match=r"connect\.refused"):
        torr.once(url)


def test_a_directory_that_cannot_be_is_refused(place, fake):
    (place / "mine").write_text("mine")
    with pytest.raises(OutputError, match="-d/--dir mine: is a file"):
        torr.run("http://127.0.0.1:9/", dir="mine")
    assert fake.loads == []


def test_a_host_that_does_not_resolve_leaves_no_directory(place):
    with pytest.raises(UsageError, match=r"no-such-host\.invalid"):
        torr.run("http://no-such-host.invalid/")
    assert list((place / "_output/torr").iterdir()) == []


def test_a_call_registers_its_run(fake, own_store):  # noqa: ARG001 - the engine
    torr.run("http://127.0.0.1:9/", note="from Python", tags=["a", "b"])
    torr.run("http://127.0.0.1:9/", store=False)
    with Store.open(DatabaseUrl(f"sqlite:///{own_store}")) as store:
        (run,) = store.find()
    assert (run.note, run.tags) == ("from Python", ("a", "b"))


def test_a_store_that_cannot_be_used_warns_and_costs_no_result(fake, monkeypatch):  # noqa: ARG001
    monkeypatch.setenv("TORR_STORE", "mysql://db/kept")
    with pytest.warns(RuntimeWarning, match="this run is not in the store: TORR_STORE names no"):
        result = torr.run("http://127.0.0.1:9/")
    assert result.status == "complete"
