"""memray in this process and in another one: who holds how much, and what is said without it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from torr.errors import UsageError
from torr.profile import memory
from torr.profile.memory import Memray

SIZE = 20_000_000
HOLDS = f"""
import time

def hold():
    held.append(bytearray({SIZE}))

held = []
print("on", flush=True)
while True:
    held.clear()
    hold()
    time.sleep(0.01)
"""


def test_what_a_piece_of_work_held_is_known_by_who_allocated_it():
    def hold():
        return bytearray(SIZE)

    stacks = memory.took(hold)
    assert stacks.unit == "bytes"
    row = next(row for row in stacks.top() if row.name.startswith("hold (test_memory.py:"))
    assert SIZE <= row.total < 1.1 * SIZE


def test_a_process_that_runs_keeps_account_of_itself_for_a_while():
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        found = Memray(process.pid)
        found.check()
        stacks = found.take(1)
        is_alive = process.poll() is None
        process.kill()
    assert is_alive
    assert stacks.unit == "bytes"
    row = next(row for row in stacks.top() if row.name.startswith("hold (<string>:"))
    assert SIZE <= row.total < 2.5 * SIZE


def test_a_process_that_is_gone_is_said():
    with subprocess.Popen(["true"]) as process:
        process.wait()
    with pytest.raises(UsageError, match="memray: "):
        Memray(process.pid).take(1)


def test_memray_that_is_missing_is_said(monkeypatch):
    monkeypatch.setattr(memory, "find_spec", lambda _name: None)
    with pytest.raises(UsageError, match="needs memray, which is not installed") as caught:
        memory.took(list)
    assert "pip install memray" in caught.value.hint
