"""`--torr-profile`: where a measured function's time, memory and lines go."""

from __future__ import annotations

import pytest

SOURCE = """
    def inner(size):
        return sum(range(size)) + len(bytearray(100_000))

    def outer():
        return inner(3_000)

    def test_outer(measure):
        measure(outer, n=50, rounds=3)
"""


@pytest.mark.full
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
    kept = ended.result
    assert len(kept["levels"]) == 3
    (profile,) = kept["profiles"]
    assert profile["candidate"] == "test_it.py::test_outer"
    assert profile["folded"].startswith("outer (")
    page = (ended.kept / "report.html").read_text()
    assert f"{title} in test_it.py::test_outer, by {tool}" in page


def test_lines_are_those_that_the_test_names(pytests):
    source = SOURCE.replace("rounds=3", "rounds=3, lines=[inner]")
    source += """
    def test_length(measure):
        measure(len, n=50, rounds=2, inputs=str)
    def test_threads(stress): stress(int, threads=2, per_thread=10, rounds=2)
    def test_left(leaks): leaks(int, n=100)
    def test_two(compare_functions): compare_functions(a=int, b=str, n=20, rounds=2)
    """
    ended = pytests(source, "--torr-profile", "lines", "--torr-save", "mine")
    assert ended.counts == {"passed": 5}, ended.out
    assert "Lines by time, by line-profiler" in ended.out
    told = ended.out.split("torr: functions under load")[1]
    assert "return sum(range(size)) + len(bytearray(100_000))" in told
    assert "return inner(3_000)" not in told
    # A function without lines, and what is not profiled, fail nothing, and are named with why.
    assert "no profile: <built-in function len> has no lines" in told
    without = [line for line in told.splitlines() if line.startswith("no profile of ")]
    assert [line.partition(": ")[0].rpartition("::")[2] for line in without] == [
        *("test_threads", "test_left", "a", "b")
    ]
    assert "it ran in threads, and one thread is profiled: measure it" in without[0]
    profiled, failed = ended.result["profiles"]
    assert profiled["candidate"] == "test_it.py::test_outer"
    assert [(line["code"].strip(), line["hits"]) for line in profiled["lines"]] == [
        ("return sum(range(size)) + len(bytearray(100_000))", 50)
    ]
    assert "has no lines" in failed["failure"]["text"]


@pytest.mark.full
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


def test_without_the_option_nothing_is_said_of_profiles(pytests):
    ended = pytests("def test_threads(stress): stress(int, threads=2, per_thread=10, rounds=2)")
    assert "functions under load" in ended.out
    assert "no profile of" not in ended.out


def test_a_kind_that_is_not_there_is_refused(pytests):
    ended = pytests(SOURCE, "--torr-profile", "wall")
    assert ended.code == 4
    assert "invalid choice: 'wall'" in ended.out


def test_a_profiler_that_is_missing_is_said_once_and_before_anything_runs(pytests, tmp_path):
    (tmp_path / "conftest.py").write_text("import sys; sys.modules['line_profiler'] = None")
    source = """
        def test_it(measure): measure(int, n=50)
        def test_other(measure): measure(int, n=50)
    """
    ended = pytests(source, "--torr-profile", "lines")
    assert ended.code == 4
    assert ended.out.count("line-profiler, which is not installed") == 1
    assert "passed" not in ended.out
