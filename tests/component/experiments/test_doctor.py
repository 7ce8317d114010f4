"""The steps of `torr doctor`, against a real target of its own."""

from __future__ import annotations

import os
import socket

import pytest

from installed import wait_until
from torr.errors import NothingMeasuredError, UsageError
from torr.experiments.doctor import doctor, target_of
from torr.model.plan import Count

REQUESTS = 400


def test_it_measures_and_says_what_it_does(monkeypatch):
    # Loads by number, not by time: a machine that stands still for a while answers none the less.
    monkeypatch.setattr("torr.self_test.Duration", lambda _ns: Count(REQUESTS))
    monkeypatch.setattr("torr.self_test.WARMUP_NS", 0)
    monkeypatch.setattr("torr.self_test.RATE", 4_000.0)
    said = []
    seen = doctor(None, said.append)
    assert [text.split()[0] for text in said] == ["measuring", "measuring"]
    assert seen.speed.requests_per_s > 0
    cores = seen.speed.requests_per_s / seen.speed.per_core
    assert 0 < cores < os.cpu_count() + 1
    assert seen.timers.p50_ms > 0
    # A percentile that too few responses show is none.
    assert seen.timers.p99_ms is None or seen.timers.p50_ms <= seen.timers.p99_ms
    assert seen.descriptors >= seen.machine.descriptors[0]
    assert seen.target is None


def test_a_name_that_does_not_resolve_is_refused_before_anything_is_measured(monkeypatch):
    monkeypatch.setattr("torr.experiments.doctor.addresses", lambda _host, _port: [])
    said = []
    with pytest.raises(UsageError, match=r"cannot resolve 'example\.invalid'"):
        doctor("http://example.invalid/", said.append)
    assert said == []


def test_the_cores_are_its_callers_again_when_it_ends(monkeypatch):
    before = os.sched_getaffinity(0)
    during = []

    def start(_plan):
        during.append(os.sched_getaffinity(0))
        raise NothingMeasuredError("no engine today")

    monkeypatch.setattr("torr.engine.start", start)
    with pytest.raises(NothingMeasuredError):
        doctor(None, lambda _text: None)
    assert os.sched_getaffinity(0) == before
    assert during == [before - {max(before)} or before]


def test_it_ends_its_load_when_it_is_interrupted(monkeypatch):
    aborted = []

    class Endless:
        def next_interval(self, _timeout_s):
            raise KeyboardInterrupt

        def done(self):
            return False

        def abort(self):
            aborted.append(self)

    monkeypatch.setattr("torr.engine.start", lambda _plan: Endless())
    with pytest.raises(KeyboardInterrupt):
        doctor(None, lambda _text: None)
    assert len(aborted) == 1


def test_a_target_of_this_machine_is_looked_at_and_gets_nothing():
    with socket.create_server(("127.0.0.1", 0), backlog=9) as server:
        port = server.getsockname()[1]
        # A descriptor that another thread closes meanwhile hides its process.
        found = wait_until(lambda: _with_process(target_of(f"http://localhost:{port}/x")))
        assert (found.address, found.is_own) == (f"localhost:{port}", True)
        [(listener, process)] = found.listeners
        assert (listener.backlog, listener.waiting) == (9, 0)
        assert process.pid == os.getpid()
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def _with_process(place):
    """The place, once it is known which process listens there."""
    return place if all(process is not None for _, process in place.listeners) else None


def test_a_target_elsewhere_is_not_looked_at():
    found = target_of("https://192.0.2.1/")
    assert (found.address, found.is_own, found.listeners) == ("192.0.2.1:443", False, None)


def test_a_port_of_this_machine_without_a_server_has_no_listener():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        found = target_of(f"http://127.0.0.1:{bound.getsockname()[1]}/")
    assert found.is_own
    assert found.listeners == ()


def test_a_unix_socket_is_looked_at_as_a_file(tmp_path):
    path = tmp_path / "app.sock"
    assert target_of(f"unix:{path}").file == "missing"
    assert target_of(f"unix:{path}/below").file == "missing"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        found = target_of(f"unix:{path}:/healthz")
    assert (found.address, found.is_own, found.listeners) == (f"unix:{path}", True, None)
    assert found.file == "socket"
    path.unlink()
    path.write_text("")
    assert target_of(f"unix:{path}").file == "other"
