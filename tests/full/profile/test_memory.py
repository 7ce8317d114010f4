"""memray in this process and in another one: who holds how much, and what is said without it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from installed import wait_until
from torr.errors import UsageError
from torr.profile import memory
from torr.profile.memory import Memray, hook_environment

SIZE = 20_000_000
HOLDS = f"""
import os, sys, time

def hold():
    return bytearray({SIZE})

if "fork" in sys.argv and os.fork():
    os.wait()
held = hold()
print(os.getpid(), flush=True)
while True:
    held = None
    held = hold()
    time.sleep(0.01)
"""


@pytest.fixture
def holding():
    """Start a Python that holds memory; the id of the process that does."""
    started = []

    def start(*arguments, **environment):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDS, *arguments],
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        started.append(process)
        return int(process.stdout.readline())

    yield start
    for process in started:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def test_what_a_piece_of_work_held_is_known_by_who_allocated_it():
    def hold():
        return bytearray(SIZE)

    stacks = memory.profile_memory(hold)
    assert stacks.unit == "bytes"
    row = next(row for row in stacks.top() if row.name.startswith("hold (test_memory.py:"))
    assert SIZE <= row.total < 1.1 * SIZE


@pytest.mark.parametrize("arguments", [(), ("fork",)])
def test_a_process_keeps_account_of_itself_for_a_while(holding, tmp_path, arguments):
    folder = tmp_path / "made" / "by it"
    pid = holding(*arguments, **hook_environment({}, folder))
    found = Memray((pid,))
    wait_until((folder / f"{pid}.here").exists)
    found.check()
    for _ in range(2):
        stacks = found.take(1)
        assert stacks.unit == "bytes"
        row = next(row for row in stacks.top() if row.name.startswith("hold (<string>:"))
        assert SIZE <= row.total < 2.5 * SIZE


def test_a_process_that_was_not_started_for_it_is_said_before_any_load(holding):
    with pytest.raises(UsageError, match="does not report its memory") as caught:
        Memray((holding(),)).check()
    assert "PYTHONPATH=$(python -m torr.profile.hook)" in caught.value.hint


def test_a_process_that_ends_meanwhile_is_said(holding, tmp_path):
    pid = holding(**hook_environment({}, tmp_path))
    wait_until((tmp_path / f"{pid}.here").exists)
    threading.Timer(0.5, os.kill, (pid, signal.SIGKILL)).start()
    with pytest.raises(UsageError, match=r"ended while torr profiled its memory|does not report"):
        Memray((pid,)).take(30)


def test_what_the_process_cannot_do_is_said(holding, tmp_path):
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "memray.py").write_text("raise ImportError('no memray here')")
    more = hook_environment({"PYTHONPATH": str(tmp_path / "without")}, tmp_path)
    pid = holding(**more)
    wait_until((tmp_path / f"{pid}.here").exists)
    with pytest.raises(UsageError, match="memray: ImportError: no memray here"):
        Memray((pid,)).take(1)


def test_a_question_that_cannot_be_asked_is_said(holding, tmp_path):
    pid = holding(**hook_environment({}, tmp_path))
    wait_until((tmp_path / f"{pid}.here").exists)
    (tmp_path / f"{pid}.asked").mkdir()
    with pytest.raises(UsageError, match=f"{pid}: cannot be written: Is a directory"):
        Memray((pid,)).take(1)


def test_nobody_waits_for_an_answer_once_it_is_stopped(holding, tmp_path):
    pid = holding(**hook_environment({}, tmp_path))
    found = Memray((pid,))
    wait_until((tmp_path / f"{pid}.here").exists)
    found.stop()
    with pytest.raises(UsageError, match="stopped asking process"):
        found.take(1)


PRELOADED = """
import os, threading, time

def work():
    while True:
        bytearray(100_000)

began = time.process_time()
while time.process_time() - began < 1:
    pass
child = os.fork()
if child:
    print(child, flush=True)
    os.wait()
else:
    work()
"""


def test_of_a_server_the_process_that_works_now_is_asked_not_who_began_it(tmp_path):
    environment = {**os.environ, **hook_environment({}, tmp_path)}
    command = [sys.executable, "-c", PRELOADED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        child = int(process.stdout.readline())
        try:
            for pid in (process.pid, child):
                wait_until((tmp_path / f"{pid}.here").exists)
            found = Memray((process.pid, child))
            found.check()
            found.take(1)
        finally:
            os.kill(child, signal.SIGKILL)
    assert (tmp_path / f"{child}.bin").exists()
    assert not (tmp_path / f"{process.pid}.bin").exists()


def test_processes_none_of_which_can_be_asked_are_named():
    with pytest.raises(UsageError, match="none of the processes 99999998, 99999999 reports"):
        Memray((99999998, 99999999)).check()


def test_another_sitecustomize_is_not_lost(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('theirs')")
    environment = {**os.environ, **hook_environment({"PYTHONPATH": str(tmp_path)}, tmp_path)}
    command = [sys.executable, "-c", "print('mine')"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout == "theirs\nmine\n"


def test_without_a_folder_nothing_waits():
    said = subprocess.run(
        [sys.executable, "-m", "torr.profile.hook"], capture_output=True, text=True, check=True
    )
    code = "import threading, sys; print(sys._current_frames().keys().__len__())"
    environment = {**os.environ, "PYTHONPATH": said.stdout.strip()}
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout == "1\n"


def test_memray_that_is_missing_is_said(monkeypatch):
    monkeypatch.setattr(memory, "find_spec", lambda _name: None)
    with pytest.raises(UsageError, match="needs memray, which is not installed") as caught:
        memory.profile_memory(list)
    assert "pip install memray" in caught.value.hint
