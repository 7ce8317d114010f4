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
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, perf_counter_ns

from torr.errors import UsageError
from torr.micro import loops, overhead
from torr.micro.errors import Errors
from torr.micro.measuring import Measurement, Round

ROUNDS = 5
TIMEOUT_S = 60.0

Values = Callable[[int, int], object] | None


class HangError(Exception):
    """Threads that did not come to their end in time; `stacks` says where each of them stood."""

    def __init__(self, message: str, stacks: str) -> None:
        super().__init__(message)
        self.stacks = stacks


@dataclass(frozen=True, slots=True)
class Stress:
    """`threads` threads with `each` operations; `given` makes a call's value of thread and number.

    `setup` is called before each round; what it returns comes first in each call, unless that is
    None.
    """

    call: Callable[..., object]
    threads: int
    each: int
    given: Values = None
    setup: Callable[[], object] | None = None
    timeout_s: float = TIMEOUT_S

    def check(self) -> None:
        """Raise UsageError where it cannot be run."""
        if not callable(self.call):
            raise UsageError(f"{self.call!r} cannot be called", "give a function")
        if self.threads < 1 or self.each < 1:
            raise UsageError(f"threads={self.threads}, each={self.each}: both must be 1 or more")


@dataclass(slots=True)
class _Worker:
    """One thread of a round, and what it has seen."""

    number: int
    call: Callable[..., object]
    values: Sequence[object] | None
    count: int
    barrier: threading.Barrier
    known: Errors
    times: list[int] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    ended_ns: int = 0

    def run(self) -> None:
        self.barrier.wait()
        if self.values is None:
            loops.single(self.call, self.count, self.times.append, self._fail)
        else:
            loops.single_each(self.call, self.values, self.times.append, self._fail)
        self.ended_ns = perf_counter_ns()

    def _fail(self, error: Exception) -> None:
        self.errors[self.known.take(error)] += 1


def stress(subject: Stress, rounds: int = ROUNDS) -> Measurement:
    """Run rounds of it, after one that is not counted; raises UsageError and HangError."""
    subject.check()
    cost, errors = overhead.measured(), Errors()
    _one_round(subject, cost.clock_ns, Errors())
    found = [_one_round(subject, cost.clock_ns, errors) for _ in range(rounds)]
    return Measurement(tuple(found), 1, cost, False, errors, subject.threads)


def _one_round(subject: Stress, least_ns: float, errors: Errors) -> Round:
    workers = _workers(subject, errors)
    threads = [
        # A daemon: one that hangs keeps nobody from ending.
        threading.Thread(target=worker.run, name=f"torr-stress-{worker.number}", daemon=True)
        for worker in workers
    ]
    for thread in threads:
        thread.start()
    workers[0].barrier.wait(subject.timeout_s)
    began_ns, deadline = perf_counter_ns(), monotonic() + subject.timeout_s
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))
    hanging = [thread for thread in threads if thread.is_alive()]
    if hanging:
        raise HangError(
            f"{len(hanging)} of {subject.threads} threads had not ended after"
            f" {subject.timeout_s:g} s",
            _stacks(hanging),
        )
    counted = sum((worker.errors for worker in workers), Counter[str]())
    times = [max(0.0, time - least_ns) for worker in workers for time in worker.times]
    busy_ns = max(worker.ended_ns for worker in workers) - began_ns
    return Round(len(times) + counted.total(), len(times), max(busy_ns, 1), times, counted)


def _workers(subject: Stress, errors: Errors) -> list[_Worker]:
    """The threads of a round, with what they need; nothing of it is timed."""
    made = None if subject.setup is None else subject.setup()
    call = subject.call if made is None else partial(subject.call, made)
    barrier = threading.Barrier(subject.threads + 1)
    given, numbers = subject.given, range(subject.each)
    return [
        _Worker(
            thread,
            call,
            None if given is None else [given(thread, at) for at in numbers],
            subject.each,
            barrier,
            errors,
        )
        for thread in range(subject.threads)
    ]


def _stacks(threads: list[threading.Thread]) -> str:
    """Where each of these threads stands."""
    frames = sys._current_frames()  # noqa: SLF001 - there is no other way
    told = []
    for thread in threads:
        frame = frames.get(thread.ident or 0)
        lines = "" if frame is None else "".join(traceback.format_stack(frame))
        told.append(f"{thread.name}:\n{lines}")
    return "\n".join(told)
