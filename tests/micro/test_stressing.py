"""Functions under threads."""

from __future__ import annotations

import threading
import time

import pytest

from torr.errors import UsageError
from torr.micro.stressing import HangError, Stress, stress


def test_all_threads_are_there_before_the_first_operation():
    together = threading.Barrier(4, timeout=10)
    found = stress(Stress(together.wait, threads=4, each=5), rounds=2)
    assert [(one.attempted, one.ok) for one in found.rounds] == [(20, 20)] * 2
    assert found.threads == 4


def test_each_call_gets_its_own_value():
    seen = []
    stress(Stress(seen.append, 3, 2, given=lambda thread, at: (thread, at)), rounds=1)
    assert sorted(seen) == sorted([(t, n) for t in range(3) for n in range(2)] * 2)


def test_each_round_begins_anew():
    made = []

    def setup():
        made.append([])
        return made[-1]

    stress(Stress(list.append, 2, 3, given=lambda *_: 1, setup=setup), rounds=2)
    assert [len(one) for one in made] == [6, 6, 6]


def test_operations_are_timed_and_the_rate_is_of_the_wall_clock():
    found = stress(Stress(lambda: time.sleep(0.005), threads=5, each=4), rounds=1)
    (one,) = found.rounds
    assert all(ns >= 5e6 for ns in one.times_ns)
    # Sleepers do not wait for each other.
    assert one.busy_ns < sum(one.times_ns)
    assert one.ok_per_s == pytest.approx(20 / (one.busy_ns / 1e9))


def test_errors_of_threads_are_counted_by_class():
    def fails(value):
        raise (ValueError if value else KeyError)(value)

    found = stress(Stress(fails, 3, 2, given=lambda _thread, at: at), rounds=1)
    assert found.rounds[0].errors == {"KeyError": 3, "ValueError": 3}
    assert {each["reason"] for each in found.errors.samples()} == {
        *("raised.KeyError", "raised.ValueError")
    }


def test_threads_that_hang_are_told_with_where_they_stand_and_block_nobody():
    free = threading.Event()

    def stands_here():
        free.wait(30)

    began = time.monotonic()
    with pytest.raises(HangError) as caught:
        stress(Stress(stands_here, threads=2, each=1, timeout_s=0.3), rounds=1)
    free.set()
    assert time.monotonic() - began < 10
    assert "2 of 2 threads had not ended after 0.3 s" in str(caught.value)
    assert caught.value.stacks.count("in stands_here") == 2
    assert "torr-stress-1:" in caught.value.stacks


def test_what_cannot_be_run_is_refused():
    with pytest.raises(UsageError, match="both must be 1 or more"):
        stress(Stress(print, threads=0, each=1))
