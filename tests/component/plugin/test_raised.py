"""What operations raised, as pytest's terminal says it."""

from __future__ import annotations

import pytest

FAILS = """
    def fails(number):
        if number % 2:
            return {{}}[number]

    def test_it(measure, stress, compare_functions):
        {call}
"""


@pytest.mark.parametrize(
    ("call", "name", "count"),
    [
        ("measure(fails, n=10, rounds=10, given=int)", "test_it", 50),
        ("stress(fails, threads=2, each=10, rounds=5, given=lambda _, n: n)", "test_it", 50),
        ("compare_functions(a=fails, b=str, n=10, rounds=6, given=int)", "test_it::a", 30),
    ],
)
def test_each_class_has_its_count_and_its_first_traceback(pytests, call, name, count):
    ended = pytests(FAILS.format(call=call))
    assert ended.counts == {"passed": 1}, ended.out
    told = ended.out.partition(f"test_it.py::{name}: KeyError × {count}, the first of them:\n")[2]
    last = told.splitlines()[:6]
    assert any(line.endswith("in fails") for line in last)
    assert last[-1] == "  KeyError: 1"
    assert ended.out.count("the first of them") == 1


def test_of_many_classes_those_that_were_raised_most_are_told(pytests):
    source = """
        KINDS = [KeyError] * 4 + [ValueError] * 3 + [OSError] * 2 + [TypeError]

        def fails(number):
            raise KINDS[number % 10]("told")

        def test_it(measure):
            measure(fails, n=10, rounds=1, given=int)
    """
    ended = pytests(source)
    found = [line for line in ended.out.splitlines() if line.startswith("test_it.py::test_it: ")]
    head = "test_it.py::test_it: "
    assert found == [
        f"{head}KeyError × 4, the first of them:",
        f"{head}ValueError × 3, the first of them:",
        f"{head}OSError × 2, the first of them:",
        f"{head}1 class more",
    ]


def test_nothing_is_told_where_nothing_was_raised(pytests):
    ended = pytests("def test_it(measure): measure(int, n=50, rounds=2)")
    assert "the first of them" not in ended.out
