"""Rounds of functions: what is counted, what is timed, what is taken off."""

from __future__ import annotations

import asyncio
import gc
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import pytest

from torr.errors import UsageError
from torr.micro import overhead
from torr.micro.measuring import measure
from torr.micro.subject import Subject


def nothing():
    pass


def test_every_operation_is_counted_and_timed():
    seen = []
    found = measure(Subject(seen.append, given=int), count=50, rounds=3)
    assert [(one.attempted, one.ok) for one in found.rounds] == [(50, 50)] * 3
    assert {len(one.times_ns) for one in found.rounds} == {50 // found.batch}
    # One round more, that is not counted.
    assert seen == [*range(50)] * 4


def test_what_takes_long_is_timed_one_by_one():
    found = measure(Subject(lambda: time.sleep(0.001)), count=5, rounds=2)
    assert found.batch == 1
    for one in found.rounds:
        assert all(1e6 <= ns < 1e9 for ns in one.times_ns)
        assert one.ok_per_s == pytest.approx(5 / (sum(one.times_ns) / 1e9))


def test_what_is_short_is_timed_in_batches():
    found = measure(Subject(nothing), count=10_000, rounds=2)
    assert found.batch > 10
    assert all(one.attempted == 10_000 // found.batch * found.batch for one in found.rounds)
    assert all(len(one.times_ns) >= 20 for one in found.rounds)


def test_the_clock_is_taken_off_and_no_time_is_below_nothing():
    cost = overhead.measured()
    assert cost is overhead.measured()
    assert cost.clock_ns > 0
    assert cost.of(1) == cost.clock_ns
    assert cost.of(100) == cost.clock_ns + 100 * cost.turn_ns
    found = measure(Subject(nothing), count=1_000, rounds=1)
    assert min(found.rounds[0].times_ns) >= 0
    assert median(found.rounds[0].times_ns) < 100_000


def test_each_round_begins_with_what_setup_makes():
    made = []

    def setup():
        made.append([])
        return made[-1]

    measure(Subject(list.append, given=int, setup=setup), count=30, rounds=3)
    assert [len(one) for one in made] == [30] * 4


def test_a_setup_that_makes_nothing_is_called_all_the_same():
    calls = []
    measure(Subject(nothing, setup=lambda: calls.append(1)), count=20, rounds=2)
    assert len(calls) == 3


def test_values_may_be_given_one_after_another():
    seen = []
    measure(Subject(seen.append, given="abc"), count=3, rounds=1)
    assert seen == ["a", "b", "c"] * 2
    with pytest.raises(UsageError, match="3 values for 4 operations"):
        measure(Subject(seen.append, given="abc"), count=4, rounds=1)


def test_async_functions_are_awaited():
    order = []

    async def operation(number):
        await asyncio.sleep(0)
        order.append(number)

    found = measure(Subject(operation, given=int), count=4, rounds=1)
    assert order == [0, 1, 2, 3] * 2
    assert (found.batch, found.rounds[0].ok) == (1, 4)


def test_async_functions_are_awaited_where_a_loop_runs_already():
    async def operation():
        await asyncio.sleep(0)

    async def outer():
        return measure(Subject(operation), count=3, rounds=2)

    with ThreadPoolExecutor(1) as threads:
        found = threads.submit(lambda: asyncio.run(outer())).result()
    assert [one.ok for one in found.rounds] == [3, 3]


@pytest.mark.parametrize("count", [4, 4_000])
def test_what_is_raised_is_counted_and_the_next_one_goes_on(count):
    def sometimes(number):
        if number % 4 == 3:
            raise KeyError(number)

    found = measure(Subject(sometimes, given=int), count=count, rounds=2)
    for one in found.rounds:
        failed = one.errors["KeyError"] * found.batch
        assert failed > 0
        assert one.ok + failed == one.attempted
    (sample,) = found.errors.samples()
    assert sample["reason"] == "raised.KeyError"
    assert "in sometimes" in sample["detail"]
    assert "KeyError: 3" in sample["detail"]


def test_an_async_operation_that_raises_is_counted_too():
    async def fails():
        raise ValueError("no")

    found = measure(Subject(fails), count=3, rounds=1)
    assert found.rounds[0].errors == {"ValueError": 3}
    assert found.rounds[0].ok_per_s == 0


@pytest.mark.parametrize("off", [True, False])
def test_the_collector_is_as_it_was_said_and_as_it_was(off):
    states = []
    measure(Subject(lambda: states.append(gc.isenabled()), gc_off=off), count=3, rounds=1)
    assert set(states) == {not off}
    assert gc.isenabled()


def test_what_cannot_be_measured_is_refused():
    def generator():
        yield

    with pytest.raises(UsageError, match="generator function"):
        measure(Subject(generator), count=1)
    with pytest.raises(UsageError, match="cannot be called"):
        measure(Subject(7), count=1)
    with pytest.raises(UsageError, match="both must be 1 or more"):
        measure(Subject(nothing), count=0)
