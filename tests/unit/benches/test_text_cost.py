"""What a text costs a client: the slope of two loads, with the processor time of all processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from documents import ROOT
from streams import cost

# A child that is left behind by its parent, and burns 200 ms after it.
ORPHAN = """
import os, sys, time
if os.fork() == 0:
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    while time.process_time() < 0.2: pass
os._exit(0)
"""
CLIENT = f"""
import os, sys
from streams import process
process.CLIENT_CORE = str(min(os.sched_getaffinity(0)))
print(process.run([sys.executable, "-c", {ORPHAN!r}])[1])
try:
    process.run([sys.executable, "-c", "import sys; sys.exit('no such model')"])
except RuntimeError as error:
    print(error)
"""


def test_orphans_count_and_failures_have_their_words():
    """In a process of its own, since it becomes the parent of orphans."""
    ended = subprocess.run(
        [sys.executable, "-c", CLIENT],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT / "benches",
    )
    cpu_s, failure = ended.stdout.splitlines()
    assert float(cpu_s) >= 0.2
    assert failure.endswith("ended with status 1: no such model")


def test_the_start_of_a_tool_does_not_count(monkeypatch):
    start_s, text_s = 10.0, 20e-6
    monkeypatch.setattr(
        cost,
        "_fired",
        lambda _fire, requests: (start_s + 200 * requests * text_s, 200 * requests),
    )
    assert cost._slope_us(cost.torr, 100, 800) == pytest.approx(20.0)
