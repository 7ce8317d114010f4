"""What the fixtures take: what is made before each round, values of calls, functions to await."""

from __future__ import annotations

import pytest

MADE = """
    made, put = [], list.append

    def setup():
        made.append([])
        return made[-1]

    def test_it(measure, stress, compare_functions):
        {call}
        assert [len(each) for each in made] == {lengths}
"""


@pytest.mark.parametrize(
    ("call", "lengths"),
    [
        ("measure(list.append, n=5, rounds=2, given=int, setup=setup)", [5] * 3),
        (
            "stress(list.append, threads=2, each=5, rounds=2, given=max, setup=setup)",
            [10] * 3,
        ),
        (
            "compare_functions(a=put, b=put, n=5, rounds=2, given=int, setup=setup)",
            [5] * 6,
        ),
    ],
)
def test_each_round_begins_with_what_setup_makes(pytests, call, lengths):
    ended = pytests(MADE.format(call=call, lengths=lengths))
    assert ended.counts == {"passed": 1}, ended.out


AWAITED = """
    import asyncio

    seen = []

    async def operation(*values):
        await asyncio.sleep(0)
        seen.append(values)

    def test_it(measure, stress, leaks, compare_functions):
        {call}
        assert len(seen) == {count}
"""


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("measure(operation, n=5, rounds=2)", 15),
        ("measure(operation, n=5, rounds=2, given=int, setup=dict)", 15),
        ("stress(operation, threads=2, each=5, rounds=2, given=max)", 30),
        ("compare_functions(a=operation, b=operation, n=5, rounds=2)", 30),
        ("leaks(operation, n=100, given=int, max_growth=1000)", 101),
    ],
)
def test_async_functions_are_awaited(pytests, call, count):
    ended = pytests(AWAITED.format(call=call, count=count))
    assert ended.counts == {"passed": 1}, ended.out


@pytest.mark.parametrize(
    ("call", "lacking"),
    [
        ("measure()", "'fn'"),
        ("stress(int)", "'threads' and 'each'"),
        ("leaks()", "'fn'"),
        ("leaks(int, setup=list)", "unexpected keyword argument 'setup'"),
        ("compare_functions(a=int)", "a comparison needs two functions"),
    ],
)
def test_what_is_required_is_asked_for(pytests, call, lacking):
    source = f"def test_it(measure, stress, leaks, compare_functions): {call}"
    ended = pytests(source)
    assert ended.counts == {"failed": 1}
    assert lacking in ended.out
