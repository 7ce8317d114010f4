"""/proc/PID/stat of processes that are there, and of written ones."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from torr.procfs.stat import is_running, pids, process_stat

ABSENT = 2**22 + 1


def test_a_process_is_read_as_the_kernel_has_it():
    name, _, fields = Path("/proc/self/stat").read_text("utf-8").rpartition(") ")
    # proc(5) counts from the pid, which is 1: the state is 3, the start 22.
    assert name.startswith(f"{os.getpid()} (")
    found = process_stat(os.getpid())
    assert found.started == int(fields.split()[22 - 3])
    assert (found.parent, found.session) == (os.getppid(), os.getsid(0))
    assert os.getpid() in pids()


def test_a_process_that_does_not_exist_has_no_reading():
    assert process_stat(ABSENT) is None
    assert not is_running(ABSENT)


@pytest.mark.parametrize("name", ["x", "a (b) c", ") S 9 9 9", "two\nlines"])
def test_the_name_of_a_process_may_contain_anything(proc, name):
    proc.process(100, parent=7, cpu=50, waited=4, started=30, threads=(1, 2), pages=3, name=name)
    found = process_stat(100, proc.root)
    assert (found.parent, found.cpu, found.waited, found.all_cpu) == (7, 50, 4, 54)
    assert (found.key, found.threads) == ((100, 30), 2)
    assert found.rss_bytes == 3 * os.sysconf("SC_PAGE_SIZE")


def test_a_process_that_nobody_waited_for_does_not_run():
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert process_stat(process.pid) is not None
        assert not is_running(process.pid)
