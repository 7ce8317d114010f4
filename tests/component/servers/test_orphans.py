"""What is left of a server without its watcher: killed, and waited for until it is gone."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from torr.procfs import tree
from torr.servers import orphans

PID, TOKEN = 7, "abc"
ELSEWHERE = orphans.Session(2, "100")


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
        return ["R", "1", "3", "3", *["0"] * 15, str(started), "0"]

    def read(self, path):
        marked = not self.killed and path.endswith("environ")
        return f"A=b\0{orphans.MARK}={TOKEN}\0".encode() if marked else b""


@pytest.fixture
def orphan(monkeypatch):
    """Put one in the place of all processes."""

    def made(looks):
        found = Orphan(looks)
        monkeypatch.setattr(orphans, "time", found)
        monkeypatch.setattr(os, "kill", found.kill)
        monkeypatch.setattr(tree, "pids", lambda: [PID])
        monkeypatch.setattr(tree, "stat", found.stat)
        monkeypatch.setattr(tree, "read", found.read)
        monkeypatch.setattr(tree, "command_of", lambda _pid: "app")
        return found

    return made


def test_who_has_lost_its_mark_is_waited_for_until_it_is_gone(orphan):
    found = orphan(looks=9)
    assert orphans.killed(TOKEN, ELSEWHERE, None) == {PID: "app"}
    assert found.killed == [(PID, signal.SIGKILL)]
    assert not found.is_there


def test_who_has_the_pid_of_a_killed_process_is_none_of_it(orphan):
    found = orphan(looks=2)
    found.successor = 900
    assert orphans.killed(TOKEN, ELSEWHERE, None) == {PID: "app"}
    assert found.looks == 0
    assert found.killed == [(PID, signal.SIGKILL)]


def test_who_does_not_end_is_not_waited_for_for_ever(orphan):
    found = orphan(looks=10**9)
    assert orphans.killed(TOKEN, ELSEWHERE, None) == {PID: "app"}
    assert found.is_there
    assert found.now_s == pytest.approx(5.0, abs=0.1)


def test_the_start_of_a_process_is_what_the_kernel_has_for_it():
    name, _, fields = Path("/proc/self/stat").read_text("utf-8").rpartition(") ")
    # proc(5) counts from the pid, which is 1: the state is 3, the start 22.
    assert name.startswith(f"{os.getpid()} (")
    assert tree.start_of(os.getpid()) == fields.split()[22 - 3]
    assert tree.start_of(2**22 + 1) is None


@pytest.fixture
def processes(monkeypatch):
    """Puts processes in the place of all: for each its session and when it was started."""

    def made(**known):
        table = {int(pid.removeprefix("pid")): found for pid, found in known.items()}

        def stat(pid):
            if pid not in table:
                return None
            session, started = table[pid]
            return ["S", "1", str(session), str(session), *["0"] * 15, str(started), "0"]

        monkeypatch.setattr(tree, "pids", lambda: list(table))
        monkeypatch.setattr(tree, "stat", stat)
        monkeypatch.setattr(tree, "read", lambda _path: b"")

    return made


SESSION = orphans.Session(30, "500")


def test_who_is_in_the_session_of_a_server_is_found_while_its_leader_runs(processes):
    processes(pid30=(30, 500), pid31=(30, 510), pid40=(40, 520))
    assert orphans.remaining(TOKEN, SESSION, None) == [30, 31]


def test_who_is_in_the_session_of_a_server_is_found_when_its_leader_has_ended(processes):
    processes(pid31=(30, 510), pid40=(40, 520))
    assert orphans.remaining(TOKEN, SESSION, None) == [31]


def test_a_session_that_got_the_number_of_an_older_one_is_left_alone(processes):
    processes(pid30=(30, 900), pid31=(30, 910))
    assert orphans.remaining(TOKEN, SESSION, None) == []


def test_who_began_before_the_server_is_none_of_it(processes):
    processes(pid31=(30, 400))
    assert orphans.remaining(TOKEN, SESSION, None) == []


def test_a_session_whose_start_nobody_saw_has_nobody(processes):
    processes(pid31=(30, 510))
    assert orphans.remaining(TOKEN, orphans.Session.of(30), None) == []
