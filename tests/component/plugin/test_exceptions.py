"""What operations raise: counted one by one, told by class on the terminal, kept with the run."""

from __future__ import annotations

import pytest

SOURCE = """
    import asyncio, pytest

    def fails(number):
        if number % 2:
            return {}[number]

    def test_measured(measure):
        found = measure(fails, n=10, rounds=10, inputs=int)
        assert found.errors == {"KeyError": 50}

    def test_stressed(stress):
        stress(fails, threads=2, per_thread=10, rounds=5, inputs=lambda _, n: n)

    def test_compared(compare_functions):
        compare_functions(a=fails, b=str, n=10, rounds=6, inputs=int)

    def rarely(number):
        if number % 3 == 0:
            raise ValueError(number)

    # As fast as this, operations that raise nothing would be timed in batches.
    def test_counted(measure, compare_functions):
        levels = measure(rarely, n=300, rounds=2, inputs=int).levels
        levels += compare_functions(a=rarely, b=rarely, n=300, rounds=2, inputs=int).levels
        assert {each.counts.attempted for each in levels} == {300}
        assert {each.counts.ok for each in levels} == {200}

    @pytest.mark.parametrize("end", [SystemExit, asyncio.CancelledError])
    def test_ended(measure, compare_functions, end):
        def ends(number):
            if number == 7:
                raise end

        found = measure(ends, n=10, rounds=3, inputs=int)
        assert list(found.errors.values()) == [3]
        levels = compare_functions(a=ends, b=str, n=10, rounds=2, inputs=int).levels
        assert [x.counts.ok for x in levels if x.candidate == "a"] == [9, 9]
"""


@pytest.fixture(scope="module")
def ended(sessions, module_folder):
    return sessions.run(module_folder, SOURCE, "--torr-save", "errors")


def test_each_operation_that_raises_is_counted_and_fails_no_test(ended):
    assert (ended.code, ended.counts) == (0, {"passed": 6}), ended.out


@pytest.mark.parametrize(
    ("name", "count"), [("test_measured", 50), ("test_stressed", 50), ("test_compared::a", 30)]
)
def test_a_class_is_told_with_its_count_and_its_first_traceback(ended, name, count):
    told = ended.out.partition(f"\ntest_it.py::{name}: KeyError × {count}, the first of them:\n")[2]
    last = told.splitlines()[:6]
    assert any(line.endswith("in fails") for line in last)
    assert last[-1] == "  KeyError: 1"
    assert ended.out.count(f"test_it.py::{name}: ") == 1


@pytest.mark.parametrize("end", ["SystemExit", "CancelledError"])
def test_what_ends_a_program_or_a_task_is_told_as_an_error(ended, end):
    assert f"{end} × 3, the first of them:" in ended.out


def test_errors_are_kept_with_their_reason_and_a_sample(ended):
    level = ended.result["levels"][0]
    assert level["counts"]["errors"] == {"check": 5}
    assert level["reasons"] == {"raised.KeyError": 5}
    assert "KeyError: 1" in level["samples"][0]["detail"]
