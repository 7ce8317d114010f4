"""A function under threads that start at a barrier: each operation is timed, a hang is told.

Whether threads run side by side is Python's affair: with its global lock they take turns, and what
is measured is what users of this Python get.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic, perf_counter_ns

from torr.errors import UsageError
from torr.micro import operation, overhead
from torr.micro.errors import Errors
from torr.micro.measuring import ROUNDS, Measurement, Round
from torr.micro.tracing import untraced
from torr.micro.worker import Worker, stop

TIMEOUT_S = 60.0

Values = Callable[[int, int], object] | None
Pairs = Sequence[tuple[threading.Thread, Worker]]


class HangError(Exception):
    """Threads that did not come to their end in time.

    `stacks` says where every thread stood, `measured` has the rounds before, if there were any.
    """

    def __init__(self, message: str, stacks: str) -> None:
        super().__init__(message)
        self.stacks = stacks
        self.measured: Measurement | None = None


class _Start:
    """When all went on: whoever comes to the barrier last says so, before anybody goes on."""

    ns = 0

    def __call__(self) -> None:
        """Look at the clock."""
        self.ns = perf_counter_ns()


@dataclass(frozen=True, slots=True)
class StressRun:
    """`threads` threads with `each` operations; `given` makes a call's value of thread and number.

    `setup` is called before each round; what it returns comes first in each call, unless that is
    None. Calls of an async function are awaited, in each thread on a loop of its own.
    """

    call: Callable[..., object]
    threads: int
    each: int
    given: Values = None
    setup: Callable[[], object] | None = None
    timeout_s: float = TIMEOUT_S

    def check(self) -> None:
        """Raise UsageError where it cannot be run."""
        operation.check(self.call)
        if self.threads < 1 or self.each < 1:
            raise UsageError(f"threads={self.threads}, each={self.each}: both must be 1 or more")

    def prepared(self) -> Callable[..., object]:
        """Return the function of one round."""
        made = None if self.setup is None else self.setup()
        return self.call if made is None else partial(self.call, made)


def stress(subject: StressRun, rounds: int = ROUNDS) -> Measurement:
    """Run rounds of it, after one that is not counted; raises UsageError and HangError."""
    subject.check()
    if rounds < 1:
        raise UsageError(f"rounds={rounds}: there is at least one round")
    cost, errors = overhead.measured(), Errors()
    found: list[Round] = []

    def measured() -> Measurement:
        return Measurement(tuple(found), 1, cost, False, errors, subject.threads)

    with untraced():
        _warm_up(subject, cost.clock_ns)
        try:
            for _ in range(rounds):
                one = _one_round(subject, subject.prepared(), cost.clock_ns, errors)
                found.append(one)  # at once: the next may hang
        except HangError as error:
            error.measured = measured() if found else None
            raise
    return measured()


def _warm_up(subject: StressRun, least_ns: float) -> None:
    """The round that is not counted; it also shows whether calls leave all undone."""
    call = subject.prepared()
    if operation.is_async(call):
        _one_round(subject, call, least_ns, Errors())
        return
    looked = operation.Looked(call)
    _one_round(subject, looked, least_ns, Errors())
    looked.check()


def _one_round(
    subject: StressRun, call: Callable[..., object], least_ns: float, errors: Errors
) -> Round:
    start = _Start()
    barrier = threading.Barrier(subject.threads + 1, start)
    workers = [
        Worker(call, _values(subject, number), subject.each, barrier, errors)
        for number in range(subject.threads)
    ]
    threads = [
        # A daemon: one that hangs keeps nobody from ending.
        threading.Thread(target=worker.run, name=f"torr-stress-{number}", daemon=True)
        for number, worker in enumerate(workers)
    ]
    pairs = list(zip(threads, workers, strict=True))
    _begin(pairs, barrier, subject)
    _wait_for(pairs, subject)
    counted = sum((worker.errors for worker in workers), Counter[str]())
    times = [max(0.0, time - least_ns) for worker in workers for time in worker.times]
    busy_ns = max(worker.ended_ns for worker in workers) - start.ns
    return Round(len(times) + counted.total(), len(times), busy_ns, times, counted)


def _values(subject: StressRun, thread: int) -> Sequence[object] | None:
    """What the calls of a thread get; nothing of it is timed."""
    given = subject.given
    return None if given is None else [given(thread, at) for at in range(subject.each)]


def _begin(pairs: Pairs, barrier: threading.Barrier, subject: StressRun) -> None:
    """Start all of them together."""
    try:
        for thread, _ in pairs:
            thread.start()
        barrier.wait(subject.timeout_s)
    except threading.BrokenBarrierError as error:
        refused = next((worker.refused for _, worker in pairs if worker.refused), None)
        if refused is not None:
            raise _too_many(subject, refused) from refused
        raise _hang(pairs, "begun", subject) from error
    except RuntimeError as error:
        barrier.abort()  # those that did start go home
        raise _too_many(subject, error) from error


def _too_many(subject: StressRun, error: Exception) -> UsageError:
    return UsageError(f"threads={subject.threads}: {error}", "take fewer")


def _wait_for(pairs: Pairs, subject: StressRun) -> None:
    deadline = monotonic() + subject.timeout_s
    for thread, _ in pairs:
        thread.join(max(0.0, deadline - monotonic()))
    if any(thread.is_alive() for thread, _ in pairs):
        raise _hang(pairs, "ended", subject)


def _hang(pairs: Pairs, what: str, subject: StressRun) -> HangError:
    """Say where everybody stands, and end whoever would go on beside what comes next."""
    late = [(thread, worker) for thread, worker in pairs if thread.is_alive()]
    said = f"{len(late)} of {subject.threads} threads had not {what} after {subject.timeout_s:g} s"
    error = HangError(said, _stacks([thread for thread, _ in late]))
    for thread, worker in late:
        stop(thread, worker)
    return error


def _stacks(late: Sequence[threading.Thread]) -> str:
    """Where every thread stands, those that are late first: another may hold what they wait for."""
    frames = sys._current_frames()  # noqa: SLF001 - there is no other way
    own = threading.current_thread()
    others = [each for each in threading.enumerate() if each not in late and each is not own]
    told = []
    for thread in (*late, *others):
        frame = frames.get(thread.ident or 0)
        lines = "" if frame is None else "".join(traceback.format_stack(frame))
        told.append(f"{thread.name}:\n{lines}")
    return "\n".join(told)
