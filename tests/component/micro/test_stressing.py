"""Functions under threads."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from installed import wait_until
from torr.errors import UsageError
from torr.micro.stressing import HangError, StressRun, stress


def test_all_threads_are_there_before_the_first_operation():
    together = threading.Barrier(4, timeout=60)
    found = stress(StressRun(together.wait, threads=4, per_thread=5), rounds=2)
    assert [(one.attempted, one.ok) for one in found.rounds] == [(20, 20)] * 2
    assert found.threads == 4


def test_each_call_gets_its_own_value():
    seen = []
    stress(StressRun(seen.append, 3, 2, inputs=lambda thread, at: (thread, at)), rounds=1)
    assert sorted(seen) == sorted([(t, n) for t in range(3) for n in range(2)] * 2)


def test_each_round_begins_anew():
    made = []

    def setup():
        made.append([])
        return made[-1]

    stress(StressRun(list.append, 2, 3, inputs=lambda *_: 1, setup=setup), rounds=2)
    assert [len(one) for one in made] == [6, 6, 6]


def test_operations_are_timed_and_the_rate_is_of_the_wall_clock(clock):
    # All threads wait while the clock goes on: their operations take that long side by side.
    together = threading.Barrier(4, lambda: clock.advance(50_000_000), timeout=60)
    found = stress(StressRun(together.wait, threads=4, per_thread=5), rounds=2)
    for one in found.rounds:
        assert list(one.times_ns) == [50_000_000] * 20
        assert one.busy_ns == 250_000_000
        assert one.ok_per_s == pytest.approx(80)


def test_a_round_began_before_any_of_its_operations():
    def spins():
        end = time.thread_time() + 0.002
        while time.thread_time() < end:
            pass

    async def spins_too():
        spins()

    for call in (spins, spins_too):
        for one in stress(StressRun(call, threads=4, per_thread=3), rounds=2).rounds:
            assert one.busy_ns >= max(sum(one.times_ns[at : at + 3]) for at in range(0, 12, 3))


def test_errors_of_threads_are_counted_by_class():
    def fails(value):
        raise (ValueError if value else KeyError)(value)

    found = stress(StressRun(fails, 3, 2, inputs=lambda _thread, at: at), rounds=1)
    assert found.rounds[0].errors == {"KeyError": 3, "ValueError": 3}
    assert {each.reason for each in found.errors.samples()} == {
        *("raised.KeyError", "raised.ValueError")
    }


@pytest.fixture
def hangs(monkeypatch):
    """An event: once it is set, threads that have not ended are given up at once."""
    event, join = threading.Event(), threading.Thread.join

    def given_up(thread, _timeout):
        while thread.is_alive() and not event.is_set():
            join(thread, 0.001)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "join", given_up)
        yield event


def test_threads_that_have_not_ended_in_time_are_told():
    free = threading.Event()
    with pytest.raises(HangError, match=r"2 threads had not (ended|begun) after 0\.1 s"):
        stress(StressRun(free.wait, threads=2, per_thread=1, timeout_s=0.1), rounds=1)
    free.set()


def test_threads_that_hang_are_told_with_where_they_stand_and_block_nobody(hangs):
    free, together = threading.Event(), threading.Barrier(2, hangs.set)

    def stands_here():
        together.wait(60)
        free.wait(60)

    with pytest.raises(HangError) as caught:
        stress(StressRun(stands_here, threads=2, per_thread=1), rounds=1)
    free.set()
    assert "2 of 2 threads had not ended after 60 s" in str(caught.value)
    assert caught.value.stacks.count("in stands_here") == 2
    assert "torr-stress-1:" in caught.value.stacks


def test_a_hang_shows_who_holds_what_is_waited_for(hangs):
    lock, held, free = threading.Lock(), threading.Event(), threading.Event()

    def holds_it():
        with lock:
            held.set()
            free.wait(60)

    holder = threading.Thread(target=holds_it, name="the holder")
    holder.start()
    held.wait(60)

    def waits():
        hangs.set()
        if lock.acquire(timeout=60):
            lock.release()

    with pytest.raises(HangError) as caught:
        stress(StressRun(waits, threads=1, per_thread=1), rounds=1)
    free.set()
    holder.join(60)
    late, _, others = caught.value.stacks.partition("the holder:")
    assert "in waits" in late
    assert "in holds_it" in others


def ended():
    """Whether all threads of rounds have ended."""
    names = [thread.name for thread in threading.enumerate()]
    return not any(name.startswith("torr-stress") for name in names)


def test_rounds_before_a_hang_are_kept_and_late_threads_end(hangs):
    ran, gate = [], threading.Event()

    def operation():
        ran.append(None)
        if len(ran) == 6:
            hangs.set()
        while len(ran) > 4 and not gate.is_set():
            sum(range(100))

    with pytest.raises(HangError) as caught:
        stress(StressRun(operation, threads=2, per_thread=1), rounds=2)
    wait_until(ended)
    gate.set()
    assert [one.ok for one in caught.value.measured.rounds] == [2]


def test_what_ends_threads_is_an_error_of_one_operation():
    class Over(BaseException):
        pass

    def fails(at):
        raise (SystemExit, Over, asyncio.CancelledError, ValueError)[at]

    found = stress(StressRun(fails, 3, 4, inputs=lambda _thread, at: at), rounds=1)
    (one,) = found.rounds
    assert (one.attempted, one.ok) == (12, 0)
    assert {name.rpartition(".")[2]: n for name, n in one.errors.items()} == {
        **dict.fromkeys(("SystemExit", "Over", "CancelledError", "ValueError"), 3)
    }


def test_async_functions_are_awaited_in_every_thread():
    seen = []

    async def operation(at):
        await asyncio.sleep(0)
        if at == 1:
            raise asyncio.CancelledError
        seen.append(threading.get_ident())

    found = stress(StressRun(operation, 3, 3, inputs=lambda _thread, at: at), rounds=1)
    assert [(one.attempted, one.ok) for one in found.rounds] == [(9, 6)]
    assert found.rounds[0].errors == {"CancelledError": 3}
    assert len(seen) == 12


def test_what_was_begun_on_a_loop_is_cancelled_at_its_end():
    ended, kept = [], []

    async def long():
        try:
            await asyncio.sleep(30)
        finally:
            ended.append(None)

    async def operation():
        kept.append(asyncio.ensure_future(long()))
        await asyncio.sleep(0)

    stress(StressRun(operation, threads=2, per_thread=1), rounds=1)
    assert len(ended) == 4


def test_late_threads_on_a_loop_end_too(hangs):
    begun = []

    async def waits():
        begun.append(None)
        if len(begun) == 2:
            hangs.set()
        await asyncio.Event().wait()

    with pytest.raises(HangError, match="2 of 2 threads had not ended"):
        stress(StressRun(waits, threads=2, per_thread=1), rounds=1)
    wait_until(ended)


def test_loops_for_which_no_descriptor_is_left_are_refused(monkeypatch):
    def none_left():
        raise OSError(24, "Too many open files")

    async def operation():
        pass

    monkeypatch.setattr(asyncio, "new_event_loop", none_left)
    with pytest.raises(UsageError, match=r"threads=3: .*Too many open files"):
        stress(StressRun(operation, threads=3, per_thread=1))


def test_more_threads_than_there_can_be_are_refused(monkeypatch):
    start = threading.Thread.start
    begun = []

    def limited(thread):
        if len(begun) == 2:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    with pytest.raises(UsageError, match="threads=5: can't start new thread"):
        stress(StressRun(print, threads=5, per_thread=1))
    for thread in begun:
        thread.join(60)
    assert not any(thread.is_alive() for thread in begun)


async def forgotten(_number):
    pass


def generates():
    yield


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        (StressRun(print, threads=0, per_thread=1), "both must be 1 or more"),
        (StressRun(generates, threads=1, per_thread=1), "generates is a generator function"),
        (
            StressRun(lambda: forgotten(1), threads=1, per_thread=1),
            "returned a coroutine, which is never",
        ),
        (StressRun(7, threads=1, per_thread=1), "7 cannot be called"),
    ],
)
def test_what_cannot_be_run_is_refused(subject, message):
    with pytest.raises(UsageError, match=message):
        stress(subject)


def test_there_is_at_least_one_round():
    with pytest.raises(UsageError, match="rounds=-1: at least one round is needed"):
        stress(StressRun(print, threads=1, per_thread=1), rounds=-1)
