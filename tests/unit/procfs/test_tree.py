"""The processes below a process, where the kernel lists children and where it does not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from installed import wait_until
from torr.procfs.stat import is_running
from torr.procfs.tree import children

# A process with a child, and one that has ended and that it does not wait for.
FORKS = """
import os, subprocess, sys
ended = subprocess.Popen(["true"])
os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print(child.pid, flush=True)
input()
"""


@pytest.fixture
def family():
    """The pids of a process of this one and of its child, which ends when its input does."""
    command = [sys.executable, "-c", FORKS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process.pid, int(process.stdout.readline())


@pytest.fixture(params=["listed", "looked for"])
def kernel(request, monkeypatch):
    """One that lists children, and one that was built without."""
    if request.param == "looked for":
        monkeypatch.setattr(os.path, "exists", lambda _path: False)


@pytest.mark.usefixtures("kernel")
def test_children_are_those_right_below_that_run(family):
    process, child = family
    assert process in children(os.getpid())
    assert child not in children(os.getpid())
    assert children(process) == [child]
    assert children(child) == []


@pytest.mark.usefixtures("kernel")
def test_a_process_that_is_gone_has_no_children():
    with subprocess.Popen(["true"]) as process:
        pass
    wait_until(lambda: not is_running(process.pid))
    assert children(process.pid) == []
