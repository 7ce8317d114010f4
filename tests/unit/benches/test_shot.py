import os
import sys

import pytest

from versus import shot
from versus.load import Load
from versus.reading import Said
from versus.shot import attempt, fire, spend
from versus.tools import Tool

CORE = min(os.sched_getaffinity(0))
LOAD = Load("http://127.0.0.1:1/small", 2, 1)


class Counting:
    """A target whose counters go on by themselves."""

    def __init__(self):
        self.count, self.seconds = 0, 0.0

    def served(self):
        self.count += 100
        return self.count

    def cpu_s(self):
        self.seconds += 0.5
        return self.seconds


def tool(said, program="python", words="print('done')"):
    return Tool(program, lambda _: [sys.executable, "-c", words], lambda _: said, program)


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.setattr(shot, "program", lambda name: name)
    monkeypatch.setattr(spend, "__defaults__", ("", CORE))


def test_a_command_is_pinned_and_gets_its_standard_input():
    words = "import os; print(input(), sorted(os.sched_getaffinity(0)))"
    ended = spend([sys.executable, "-c", words], stdin="hello\n")
    assert ended.output.split(maxsplit=1) == ["hello", f"[{CORE}]\n"]
    assert ended.cpu_s > 0
    assert ended.max_rss_bytes > 1_000_000


def test_a_command_that_fails_says_what_it_said():
    with pytest.raises(RuntimeError, match=r"ended with 3:\nno route"):
        spend([sys.executable, "-c", "import sys; sys.stderr.write('no route'); sys.exit(3)"])


def test_requests_are_the_targets_count():
    made = fire(tool(Said(90, 2.0, failed=1)), LOAD, Counting())
    assert (made.requests, made.target_requests, made.failed) == (100, 100, 1)
    assert made.cpu_s == made.process_cpu_s
    assert made.per_s == 50


def test_a_tool_with_a_window_of_its_own_is_counted_in_it():
    made = fire(tool(Said(80, 2.0, cpu_s=0.001)), LOAD, Counting())
    assert (made.requests, made.target_requests) == (80, 100)
    assert made.cpu_s == 0.001
    assert made.process_cpu_s > made.cpu_s
    # Half a second for a hundred requests, forty of them a second.
    assert made.target_core == pytest.approx(0.5 / 100 * 40)


def test_raw_output_is_kept_of_the_first_round():
    made = fire(tool(Said(1, 1.0)), LOAD, Counting())
    assert made.kept(0)["output"] == "done\n"
    assert "output" not in made.kept(1)


def test_a_tool_that_fails_is_left_out_and_says_why():
    absent = {}
    assert attempt(tool(Said(1, 1.0), "hey", "1/0"), LOAD, Counting(), absent) is None
    assert "ZeroDivisionError" in absent["hey"]


def test_without_torr_there_is_no_comparison():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        attempt(tool(Said(1, 1.0), "torr", "1/0"), LOAD, Counting(), {})
