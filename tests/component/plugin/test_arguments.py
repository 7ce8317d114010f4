"""What the fixtures take: what is made before each round, values of calls, functions to await."""

from __future__ import annotations


def test_each_round_begins_with_what_setup_makes(pytests):
    ended = pytests(
        """
        import pytest

        @pytest.fixture
        def made():
            return []

        @pytest.fixture
        def setup(made):
            def makes():
                made.append([])
                return made[-1]
            return makes

        put = list.append

        def test_measure(measure, setup, made):
            measure(put, n=5, rounds=2, inputs=int, setup=setup)
            assert [len(each) for each in made] == [5] * 3

        def test_stress(stress, setup, made):
            stress(put, threads=2, per_thread=5, rounds=2, inputs=max, setup=setup)
            assert [len(each) for each in made] == [10] * 3

        def test_compare(compare_functions, setup, made):
            compare_functions(a=put, b=put, n=5, rounds=2, inputs=int, setup=setup)
            assert [len(each) for each in made] == [5] * 6
        """
    )
    assert ended.counts == {"passed": 3}, ended.out


def test_async_functions_are_awaited(pytests):
    ended = pytests(
        """
        import asyncio, pytest

        seen = []

        @pytest.fixture(autouse=True)
        def nothing_is_seen():
            seen.clear()

        async def operation(*values):
            await asyncio.sleep(0)
            seen.append(values)

        def test_measure(measure):
            measure(operation, n=5, rounds=2)
            assert len(seen) == 15

        def test_values(measure):
            measure(operation, n=5, rounds=2, inputs=int, setup=dict)
            assert len(seen) == 15
            assert seen[:2] == [({}, 0), ({}, 1)]

        def test_stress(stress):
            stress(operation, threads=2, per_thread=5, rounds=2, inputs=max)
            assert len(seen) == 30

        def test_compare(compare_functions):
            compare_functions(a=operation, b=operation, n=5, rounds=2)
            assert len(seen) == 30

        def test_leaks(leaks):
            leaks(operation, n=100, inputs=int, max_growth=1000)
            assert len(seen) == 101
        """
    )
    assert ended.counts == {"passed": 5}, ended.out


def test_what_is_missing_or_unknown_is_named(pytests):
    ended = pytests(
        """
        def test_measure(measure): measure()
        def test_stress(stress): stress(int)
        def test_leaks(leaks): leaks()
        def test_setup(leaks): leaks(int, setup=list)
        def test_compare(compare_functions): compare_functions(a=int)
        def test_collector(measure): measure(int, n=50, gc="perhaps")
        """
    )
    assert ended.counts == {"failed": 6}
    for message in (
        "Measure.__call__() missing 1 required positional argument: 'fn'",
        "Leaks.__call__() missing 1 required positional argument: 'fn'",
        "missing 2 required keyword-only arguments: 'threads' and 'per_thread'",
        "unexpected keyword argument 'setup'",
        "a comparison needs two functions",
        "gc='perhaps': it must be 'off' or 'on'",
    ):
        assert message in ended.out
