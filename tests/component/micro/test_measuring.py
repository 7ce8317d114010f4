"""Rounds of functions: what is counted, what is timed, what is taken off."""

from __future__ import annotations

import asyncio
import cProfile
import gc
import itertools
import pstats
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from torr.errors import UsageError
from torr.micro import overhead
from torr.micro.errors import ErrorCounts
from torr.micro.loops import LoopRecorder
from torr.micro.measuring import _round, batch_size, measure
from torr.micro.stressing import StressRun, stress
from torr.micro.subject import Subject


def nothing():
    pass


def test_every_operation_is_counted_and_timed():
    seen = []
    found = measure(Subject(seen.append, inputs=int), count=50, rounds=3)
    assert [(one.attempted, one.ok) for one in found.rounds] == [(50, 50)] * 3
    assert {len(one.times_ns) for one in found.rounds} == {50 // found.batch}
    # One round more, that is not counted.
    assert seen == [*range(50)] * 4


def test_what_takes_long_is_timed_one_by_one(clock):
    found = measure(Subject(clock.advance, inputs=[1_000, 2_000, 3_000]), count=3, rounds=2)
    assert found.batch == 1
    for one in found.rounds:
        assert list(one.times_ns) == [1_000, 2_000, 3_000]
        assert one.busy_ns == 6_000
        assert one.ok_per_s == pytest.approx(5e5)


@pytest.mark.parametrize(
    ("ns", "count", "batch"),
    [
        (999, 1_000, 2),
        (100, 1_000, 10),
        (10, 10_000, 100),
        # A round has as many as p99 needs, and none takes more than 10 µs.
        (500, 10_000, 10),
        (500, 50_000, 20),
        # A round has at least twenty.
        (10, 1_000, 50),
        (10, 20, 1),
    ],
)
def test_what_is_short_is_timed_in_batches(clock, ns, count, batch):
    subject = Subject(lambda: clock.advance(ns))
    assert batch_size(subject, count, overhead.timing_overhead()) == batch


def test_times_of_batches_are_means_of_their_operations(clock):
    found = measure(Subject(clock.advance, inputs=[100, 300] * 100), count=200, rounds=2)
    assert found.batch == 5
    for one in found.rounds:
        assert (one.attempted, one.ok) == (200, 200)
        assert list(one.times_ns) == [180, 220] * 20
        assert one.ok_per_s == pytest.approx(5e6)


def test_the_clock_is_taken_off_and_no_time_is_below_nothing():
    def run(record):
        record.time(1_000)
        record.time(30)

    one = _round(run, 1, overhead.Overhead(50.0, 0.0), ErrorCounts())
    assert list(one.times_ns) == [950.0, 0.0]
    assert one.busy_ns == 950.0
    batch = _round(run, 10, overhead.Overhead(50.0, 5.0), ErrorCounts())
    assert list(batch.times_ns) == [90.0, 0.0]
    assert (batch.ok, batch.busy_ns) == (20, 900.0)


def test_what_the_clock_costs_here_is_measured_once():
    cost = overhead.timing_overhead()
    assert cost is overhead.timing_overhead()
    assert cost.clock_ns > 0
    assert cost.turn_ns >= 0


def test_each_round_begins_with_what_setup_makes():
    made = []

    def setup():
        made.append([])
        return made[-1]

    measure(Subject(list.append, inputs=int, setup=setup), count=30, rounds=3)
    assert [len(one) for one in made] == [30] * 4


def test_a_setup_that_makes_nothing_is_called_all_the_same():
    calls = []
    measure(Subject(nothing, setup=lambda: calls.append(1)), count=20, rounds=2)
    assert len(calls) == 3


def test_values_may_be_given_one_after_another():
    seen = []
    measure(Subject(seen.append, inputs="abc"), count=3, rounds=1)
    assert seen == ["a", "b", "c"] * 2
    with pytest.raises(UsageError, match="3 values for 4 operations"):
        measure(Subject(seen.append, inputs="abc"), count=4, rounds=1)


def test_async_functions_are_awaited():
    order = []

    async def operation(number):
        await asyncio.sleep(0)
        order.append(number)

    found = measure(Subject(operation, inputs=int), count=4, rounds=1)
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


@pytest.mark.parametrize("count", [4, 400])
@pytest.mark.parametrize("inputs", [int, None])
def test_what_is_raised_is_counted_and_the_next_one_goes_on(count, inputs):
    calls = itertools.count()

    def sometimes(*_):
        number = next(calls)
        if number % 4 == 3:
            raise KeyError(number)

    found = measure(Subject(sometimes, inputs=inputs), count=count, rounds=2)
    assert [(one.attempted, one.ok) for one in found.rounds] == [(count, count * 3 // 4)] * 2
    assert [one.errors for one in found.rounds] == [{"KeyError": count // 4}] * 2
    (sample,) = found.errors.samples()
    assert sample.reason == "raised.KeyError"
    assert "in sometimes" in sample.detail
    # The first of the rounds that count: one round comes before them.
    assert f"KeyError: {count + 3}" in sample.detail


def test_an_async_operation_that_raises_is_counted_too():
    async def fails():
        raise ValueError("no")

    found = measure(Subject(fails), count=3, rounds=1)
    assert found.rounds[0].errors == {"ValueError": 3}
    assert found.rounds[0].ok_per_s == 0
    assert found.rounds[0].busy_ns > 0


def test_the_time_of_what_raises_is_time_without_success():
    calls = itertools.count()

    def slow_where_it_fails():
        if next(calls) % 4:
            time.sleep(0.002)
            raise TimeoutError

    (found,) = measure(Subject(slow_where_it_fails), count=8, rounds=1).rounds
    assert (found.attempted, found.ok) == (8, 2)
    assert found.busy_ns >= 6 * 2_000_000
    assert found.ok_per_s <= 2 / 0.012


@pytest.mark.parametrize("end", [SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("count", [4, 400])
@pytest.mark.parametrize("inputs", [int, None])
def test_what_ends_a_program_or_a_task_is_an_error_of_one_operation(end, count, inputs):
    calls = itertools.count()

    def ends(*_):
        if next(calls) % 4 == 3:
            raise end

    found = measure(Subject(ends, inputs=inputs), count=count, rounds=2)
    assert [one.attempted for one in found.rounds] == [count] * 2
    assert [one.errors for one in found.rounds] == [{end.__name__: count // 4}] * 2
    assert found.batch == 1


@pytest.mark.parametrize("end", [SystemExit, asyncio.CancelledError])
def test_an_awaited_operation_that_ends_its_task_is_an_error_too(end):
    seen = []

    async def ends(number):
        await asyncio.sleep(0)
        seen.append(number)
        if number == 1:
            raise end

    found = measure(Subject(ends, inputs=int), count=4, rounds=2)
    assert seen == [0, 1, 2, 3] * 3
    assert [(one.ok, one.errors) for one in found.rounds] == [(3, {end.__name__: 1})] * 2


def test_what_ends_in_a_batch_costs_its_batch_and_no_other():
    calls = itertools.count()
    times, errors = [], []

    def ends(*_):
        if next(calls) == 5:
            raise SystemExit

    subject = Subject(ends)
    subject.run(12, 3, LoopRecorder(times.append, lambda error, _time: errors.append(error)))
    assert (len(times), len(errors), next(calls)) == (3, 1, 12)


def interrupted():
    raise KeyboardInterrupt


async def interrupted_too():
    raise KeyboardInterrupt


async def interrupted_while_it_waits():
    # asyncio cancels its task then, and says KeyboardInterrupt once that has ended.
    signal.raise_signal(signal.SIGINT)
    await asyncio.sleep(0)


@pytest.mark.parametrize("call", [interrupted, interrupted_too, interrupted_while_it_waits])
def test_an_interrupt_ends_the_measurement(call):
    with pytest.raises(KeyboardInterrupt):
        measure(Subject(call), count=4)


@pytest.mark.parametrize("off", [True, False])
def test_the_collector_is_as_it_was_said_and_as_it_was(off):
    states = []
    measure(Subject(lambda: states.append(gc.isenabled()), gc_off=off), count=3, rounds=1)
    assert set(states) == {not off}
    assert gc.isenabled()


def test_an_object_whose_calls_are_async_is_awaited():
    class Client:
        awaited = 0

        async def __call__(self):
            await asyncio.sleep(0)
            self.awaited += 1

    client = Client()
    found = measure(Subject(client), count=3, rounds=1)
    assert (client.awaited, found.rounds[0].ok) == (6, 3)


def test_a_tracer_looks_at_nothing_that_is_measured_and_is_back():
    seen, inside = [], []

    def tracer(frame, _event, _value):
        seen.append(frame.f_code.co_name)
        return tracer

    def operation():
        inside.append((sys.gettrace(), sys.getprofile()))

    before = sys.gettrace(), threading.gettrace()
    sys.settrace(tracer)
    threading.settrace(tracer)
    try:
        measure(Subject(operation), count=3, rounds=1)
        stress(StressRun(operation, threads=2, per_thread=3), rounds=1)
        after = sys.gettrace(), threading.gettrace()
    finally:
        sys.settrace(before[0])
        threading.settrace(before[1])
    assert set(inside) == {(None, None)}
    assert "operation" not in seen
    assert after == (tracer, tracer)


def test_a_profiler_of_python_s_own_looks_away_and_goes_on():
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        measure(Subject(nothing), count=50, rounds=1)
        after()
    finally:
        profiler.disable()
    seen = {name for _, _, name in pstats.Stats(profiler).stats}
    assert "after" in seen
    assert "nothing" not in seen


def after():
    pass


def generates():
    yield


async def generates_too():
    yield


async def forgotten(_number):
    pass


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (generates, "generates is a generator function"),
        (partial(generates), "generates is a generator function"),
        (generates_too, "generates_too is a generator function"),
        (lambda: forgotten(1), "returned a coroutine, which is never awaited"),
        (7, "7 cannot be called"),
    ],
)
def test_what_cannot_be_measured_is_refused(call, message):
    with pytest.raises(UsageError, match=message):
        measure(Subject(call), count=1)


def test_there_is_an_operation_and_a_round():
    with pytest.raises(UsageError, match="both must be 1 or more"):
        measure(Subject(nothing), count=0)
