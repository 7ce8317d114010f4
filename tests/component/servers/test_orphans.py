"""What is left of a server without its watcher: killed, and waited for until it is gone."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from torr.servers import orphans, tree

PID, TOKEN = 7, "abc"


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
    assert orphans.killed(TOKEN, 2, None) == {PID: "app"}
    assert found.killed == [(PID, signal.SIGKILL)]
    assert not found.is_there


def test_who_has_the_pid_of_a_killed_process_is_none_of_it(orphan):
    found = orphan(looks=2)
    found.successor = 900
    assert orphans.killed(TOKEN, 2, None) == {PID: "app"}
    assert found.looks == 0
    assert found.killed == [(PID, signal.SIGKILL)]


def test_who_does_not_end_is_not_waited_for_for_ever(orphan):
    found = orphan(looks=10**9)
    assert orphans.killed(TOKEN, 2, None) == {PID: "app"}
    assert found.is_there
    assert found.now_s == pytest.approx(5.0, abs=0.1)


def test_the_start_of_a_process_is_what_the_kernel_has_for_it():
    name, _, fields = Path("/proc/self/stat").read_text("utf-8").rpartition(") ")
    # proc(5) counts from the pid, which is 1: the state is 3, the start 22.
    assert name.startswith(f"{os.getpid()} (")
    assert tree.start_of(os.getpid()) == fields.split()[22 - 3]
    assert tree.start_of(2**22 + 1) is None
