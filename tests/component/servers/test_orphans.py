"""What is left of a server without its watcher: killed, and waited for until it is gone."""

from __future__ import annotations

import os
import signal

import pytest

from torr.procfs.stat import ProcessStat
from torr.servers import orphans

PID, TOKEN = 7, "abc"
ELSEWHERE = orphans.ProcessSession(2, 100)


class Orphan:
    """A process outside the session, and the clock; killed, it takes some looks to be gone.

    As the kernel has it, its environment is gone at once, and its files are open to the end.
    """

    def __init__(self, looks):
        self.looks = looks
        self.now_s = 0.0
        self.started = 500
        self.killed = []
        self.successor = None

    @property
    def is_there(self):
        return not self.killed or self.looks > 0

    def monotonic(self):
        return self.now_s

    def sleep(self, seconds):
        self.now_s += seconds
        self.looks -= bool(self.killed)

    def kill(self, pid, number):
        self.killed.append((pid, number))

    def stat(self, _pid):
        started = self.started if self.is_there else self.successor
        if started is None:
            return None
        return ProcessStat(PID, True, parent=1, session=3, started=started)

    def environment(self, _pid):
        return {} if self.killed else {"A": "b", orphans.MARK: TOKEN}


@pytest.fixture
def orphan(monkeypatch):
    """Put one in the place of all processes."""

    def made(looks):
        found = Orphan(looks)
        monkeypatch.setattr(orphans, "time", found)
        monkeypatch.setattr(os, "kill", found.kill)
        monkeypatch.setattr(orphans, "pids", lambda: [PID])
        monkeypatch.setattr(orphans, "process_stat", found.stat)
        monkeypatch.setattr(orphans, "environment_of", found.environment)
        monkeypatch.setattr(orphans, "command_of", lambda _pid: "app")
        return found

    return made


def test_who_has_lost_its_mark_is_waited_for_until_it_is_gone(orphan):
    found = orphan(looks=9)
    assert orphans.kill_marked(TOKEN, ELSEWHERE, None) == {PID: "app"}
    assert found.killed == [(PID, signal.SIGKILL)]
    assert not found.is_there


def test_who_has_the_pid_of_a_killed_process_is_none_of_it(orphan):
    found = orphan(looks=2)
    found.successor = 900
    assert orphans.kill_marked(TOKEN, ELSEWHERE, None) == {PID: "app"}
    assert found.looks == 0
    assert found.killed == [(PID, signal.SIGKILL)]


def test_who_does_not_end_is_not_waited_for_for_ever(orphan):
    found = orphan(looks=10**9)
    assert orphans.kill_marked(TOKEN, ELSEWHERE, None) == {PID: "app"}
    assert found.is_there
    assert found.now_s == pytest.approx(5.0, abs=0.1)


@pytest.fixture
def processes(monkeypatch):
    """Puts processes in the place of all: for each its session and when it was started."""

    def made(**known):
        table = {int(pid.removeprefix("pid")): found for pid, found in known.items()}

        def stat(pid):
            if pid not in table:
                return None
            session, started = table[pid]
            return ProcessStat(pid, True, parent=1, session=session, started=started)

        monkeypatch.setattr(orphans, "pids", lambda: list(table))
        monkeypatch.setattr(orphans, "process_stat", stat)
        monkeypatch.setattr(orphans, "environment_of", lambda _pid: {})

    return made


SESSION = orphans.ProcessSession(30, 500)


def test_who_is_in_the_session_of_a_server_is_found_while_its_leader_runs(processes):
    processes(pid30=(30, 500), pid31=(30, 510), pid40=(40, 520))
    assert orphans.marked_pids(TOKEN, SESSION, None) == [30, 31]


def test_who_is_in_the_session_of_a_server_is_found_when_its_leader_has_ended(processes):
    processes(pid31=(30, 510), pid40=(40, 520))
    assert orphans.marked_pids(TOKEN, SESSION, None) == [31]


def test_a_session_that_got_the_number_of_an_older_one_is_left_alone(processes):
    processes(pid30=(30, 900), pid31=(30, 910))
    assert orphans.marked_pids(TOKEN, SESSION, None) == []


def test_who_began_before_the_server_is_none_of_it(processes):
    processes(pid31=(30, 400))
    assert orphans.marked_pids(TOKEN, SESSION, None) == []


def test_a_session_whose_start_nobody_saw_has_nobody(processes):
    processes(pid31=(30, 510))
    assert orphans.marked_pids(TOKEN, orphans.ProcessSession.of(30), None) == []
