"""Ready: healthy first, then with as many workers as were asked for."""

from __future__ import annotations

import pytest

from installed import wait_until
from programs import (
    CLOSES,
    DRIPS,
    DROPS_ALL,
    EXITS,
    FORKS_AND_LEAVES,
    HELLO,
    NEVER_LISTENS,
    NOT_FOUND,
    ONE_SOCKET,
    PASSES_ON,
    UNAVAILABLE,
    WORKERS,
)
from torr.servers import readiness
from torr.servers.acceptors import answering_processes
from torr.servers.answer import fetch_digest
from torr.servers.failure import TrialError
from torr.servers.readiness import await_ready


class Clock:
    """A clock that a busy machine does not hurry: 20 ms a look, until it is told to end."""

    now_s = 0.0

    def monotonic(self):
        self.now_s += 0.02
        return self.now_s

    def over_behind(self, look):
        """Do the same as `look`; what it finds, if anything, is found just in time."""

        def looked(*arguments, **more):
            found = look(*arguments, **more)
            if found:
                self.now_s = 1e9
            return found

        return looked


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(readiness, "time", found)
    return found


def test_one_server_is_ready_with_its_first_answer(start):
    ready = await_ready(start(HELLO))
    assert (ready.asked, ready.workers, ready.is_complete) == (1, None, True)
    assert ready.ready_s > 0
    assert ready.sentence.startswith("ready after ")


@pytest.mark.usefixtures("short_stay")
@pytest.mark.parametrize("code", [WORKERS, ONE_SOCKET], ids=["own_sockets", "one_socket"])
def test_a_server_is_ready_when_all_of_its_workers_answer(start, code):
    server = start(code, "{processes}", processes=3)
    ready = await_ready(server)
    assert ready.is_complete
    assert len(ready.workers) == 3
    assert set(ready.workers) <= set(server.pids())
    assert ready.sentence.startswith("3 of 3 workers answered after ")


@pytest.mark.usefixtures("short_stay")
def test_a_parent_that_passes_connections_on_is_no_worker(start):
    server = start(PASSES_ON, "2", workers=2)
    ready = await_ready(server)
    assert set(ready.workers) == set(server.pids()) - {server.pid}


def test_workers_that_never_come_are_told(start, clock, monkeypatch):
    monkeypatch.setattr(readiness, "answering_processes", clock.over_behind(answering_processes))
    server = start(HELLO, workers=2)
    server.started = clock.now_s
    ready = await_ready(server)
    assert not ready.is_complete
    assert (ready.asked, ready.workers) == (2, (server.pid,))
    assert ready.sentence.startswith("1 of 2 workers answered after ")


def test_workers_that_answer_one_after_another_are_all_counted(start, clock, monkeypatch):
    server = start(WORKERS, "{processes}", processes=2)
    wait_until(lambda: len(server.pids()) == 2)
    turns = [{pid} for pid in server.pids()]
    monkeypatch.setattr(
        readiness, "answering_processes", lambda *_: turns.pop() if turns else set()
    )
    server.started = clock.now_s
    ready = await_ready(server)
    assert ready.is_complete
    assert ready.workers == tuple(sorted(server.pids()))


def test_the_workers_of_a_server_that_closes_are_told_apart(start):
    server = start(CLOSES)
    await_ready(server)
    place, port = server.command.parsed_url, server.command.port
    # An accept is waited for a moment, which may be too short for a busy machine.
    wait_until(lambda: answering_processes(place, port, server.pids(), 4) == {server.pid})


def test_who_accepts_and_does_not_answer_is_no_worker(start):
    server = start(DROPS_ALL)
    place, port = server.command.parsed_url, server.command.port
    wait_until(lambda: server.wait(0.01) and _listens(port))
    assert answering_processes(place, port, server.pids(), 4) == set()


def test_a_server_that_exits_did_not_start_and_says_its_last_words(start):
    with pytest.raises(
        TrialError, match="app: it ended with exit code 3 before it was ready"
    ) as got:
        await_ready(start(EXITS))
    assert got.value.kind == "did_not_start"
    assert "run it by hand in " in got.value.hint
    assert got.value.log_tail == ("no module named app",)
    assert "  | no module named app" in str(got.value)


def test_a_server_that_never_listens_is_not_ready(start):
    with pytest.raises(
        TrialError, match="not healthy within 100ms: nothing listens at http"
    ) as got:
        await_ready(start(NEVER_LISTENS, health_timeout_s=0.1))
    assert got.value.kind == "not_ready"


@pytest.mark.parametrize(
    ("code", "status"), [(UNAVAILABLE, 503), (NOT_FOUND, 404)], ids=["unavailable", "not_found"]
)
def test_a_server_that_answers_with_errors_is_not_ready(start, clock, monkeypatch, code, status):
    monkeypatch.setattr(readiness, "fetch_digest", clock.over_behind(fetch_digest))
    server = start(code, health="/health")
    server.started = clock.now_s
    with pytest.raises(TrialError, match=rf"it answered {status} at http.*/health") as got:
        await_ready(server)
    assert got.value.kind == "not_ready"


def test_a_server_whose_answer_drips_without_end_is_not_ready(start, clock, monkeypatch):
    def asked_once(*arguments, **more):
        try:
            return fetch_digest(*arguments, **more)
        except TimeoutError:
            clock.now_s = 1e9
            raise

    monkeypatch.setattr(readiness, "fetch_digest", asked_once)
    monkeypatch.setattr(readiness, "_TRY_S", 0.2)
    server = start(DRIPS)
    server.started = clock.now_s
    with pytest.raises(TrialError, match="the last try ended with no whole response within") as got:
        await_ready(server)
    assert got.value.kind == "not_ready"


def test_a_server_that_forks_and_leaves_becomes_ready(start):
    assert await_ready(start(FORKS_AND_LEAVES)).is_complete


def _listens(port):
    from torr.servers.ports import port_listeners

    return port_listeners(port)
