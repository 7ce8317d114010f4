"""`--torr-profile`: where a measured function's time, memory and lines go."""

from __future__ import annotations

import json

import pytest

SOURCE = """
    def inner(size):
        return sum(range(size)) + len(bytearray(100_000))

    def outer():
        return inner(3_000)

    def test_outer(measure):
        measure(outer, n=50, rounds=3)
"""


@pytest.mark.parametrize(
    ("kind", "tool", "title"),
    [("cpu", "py-spy", "Functions by time"), ("memory", "memray", "Functions by memory")],
)
def test_a_measured_function_is_profiled_behind_its_rounds(pytests, kind, tool, title):
    ended = pytests(SOURCE, "--torr-profile", kind, "--torr-save", "mine")
    assert ended.counts == {"passed": 1}, ended.out
    assert f"{title} in test_it.py::test_outer, by {tool}" in ended.out
    assert "inner (" in ended.out
    assert "loops.py" not in ended.out
    kept = json.loads((ended.folder / "_output/torr/latest/result.json").read_text())
    assert len(kept["levels"]) == 3
    (profile,) = kept["profiles"]
    assert profile["candidate"] == "test_it.py::test_outer"
    assert profile["folded"].startswith("outer (")
    page = (ended.folder / "_output/torr/latest/report.html").read_text()
    assert f"{title} in test_it.py::test_outer, by {tool}" in page


def test_lines_are_those_that_the_test_names(pytests):
    source = SOURCE.replace("rounds=3", "rounds=3, lines=[inner]")
    ended = pytests(source, "--torr-profile", "lines")
    assert ended.counts == {"passed": 1}, ended.out
    assert "Lines by time, by line-profiler" in ended.out
    assert "return sum(range(size)) + len(bytearray(100_000))" in ended.out
    assert "return inner(3_000)" not in ended.out.split("torr: functions under load")[1]


def test_what_has_no_lines_is_said_and_fails_nothing(pytests):
    source = """
        def test_length(measure):
            measure(len, n=50, rounds=2, given=str)
    """
    ended = pytests(source, "--torr-profile", "lines")
    assert ended.counts == {"passed": 1}, ended.out
    assert "no profile: <built-in function len> has no lines" in ended.out


def test_an_async_function_is_profiled_below_what_awaits_it(pytests):
    source = """
        import asyncio

        def inner(size):
            return sum(range(size))

        async def outer():
            await asyncio.sleep(0)
            return inner(30_000)

        def test_outer(measure):
            measure(outer, n=50, rounds=2)
    """
    ended = pytests(source, "--torr-profile", "cpu", "--torr-save", "mine")
    assert ended.counts == {"passed": 1}, ended.out
    assert "Functions by time in test_it.py::test_outer, by py-spy" in ended.out
    (profile,) = ended.result["profiles"]
    assert profile["failure"] is None
    assert "inner (" in profile["folded"]
    assert "loops.py" not in profile["folded"]


def test_what_is_not_profiled_is_named_with_why(pytests):
    source = """
        def test_one(measure): measure(sorted, n=50, rounds=2, given=str)
        def test_threads(stress): stress(int, threads=2, each=10, rounds=2)
        def test_left(leaks): leaks(int, n=100)
        def test_two(compare_functions): compare_functions(a=int, b=str, n=20, rounds=2)
    """
    ended = pytests(source, "--torr-profile", "memory")
    assert ended.counts == {"passed": 4}, ended.out
    told = [line for line in ended.out.splitlines() if line.startswith("no profile of ")]
    assert [line.partition(": ")[0].rpartition("::")[2] for line in told] == [
        *("test_threads", "test_left", "a", "b")
    ]
    assert "it ran in threads, and one thread is profiled: measure it" in told[0]
    assert "no profile of" not in pytests(source).out


def test_a_kind_that_is_not_there_is_refused(pytests):
    ended = pytests(SOURCE, "--torr-profile", "wall")
    assert ended.code == 4
    assert "invalid choice: 'wall'" in ended.out
