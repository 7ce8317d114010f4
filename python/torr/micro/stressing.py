"""Measure a function under threads that start at a barrier; report threads that hang.

With Python's global lock the threads take turns: the results are what users of this Python get.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic, perf_counter_ns

from torr.errors import UsageError
from torr.micro import operation, overhead
from torr.micro.errors import ErrorCounts
from torr.micro.measuring import ROUNDS, Measurement, Round
from torr.micro.tracing import untraced
from torr.micro.worker import Worker, stop_thread

TIMEOUT_S = 60.0

Pairs = Sequence[tuple[threading.Thread, Worker]]


class HangError(Exception):
    """Threads did not end in time.

    `stacks` has the stack of every thread, `measured` the rounds before, if there were any.
    """

    def __init__(self, message: str, stacks: str) -> None:
        super().__init__(message)
        self.stacks = stacks
        self.measured: Measurement | None = None


@dataclass(frozen=True, slots=True)
class StressRun:
    """`threads` threads with `per_thread` operations.

    `inputs` makes the argument of a call from the numbers of its thread and of the call. `setup` is
    called before each round; its result is the first argument of each call, unless it is None.
    Calls of an async function are awaited, in an event loop per thread.
    """

    call: Callable[..., object]
    threads: int
    per_thread: int
    inputs: Callable[[int, int], object] | None = None
    setup: Callable[[], object] | None = None
    timeout_s: float = TIMEOUT_S

    def check(self) -> None:
        """Raise UsageError if the run is not possible."""
        operation.check(self.call)
        if self.threads < 1 or self.per_thread < 1:
            raise UsageError(
                f"threads={self.threads}, per_thread={self.per_thread}: both must be 1 or more"
            )

    def prepared(self) -> Callable[..., object]:
        """Return the function of one round."""
        return operation.with_setup(self.call, self.setup)

    def values(self, thread: int) -> Sequence[object] | None:
        """Return the inputs of a thread's calls, made before they are timed."""
        if self.inputs is None:
            return None
        return [self.inputs(thread, at) for at in range(self.per_thread)]


def stress(subject: StressRun, rounds: int = ROUNDS) -> Measurement:
    """Run rounds after one that is not counted; raise UsageError or HangError."""
    subject.check()
    if rounds < 1:
        raise UsageError(f"rounds={rounds}: at least one round is needed")
    cost, errors = overhead.timing_overhead(), ErrorCounts()
    finished: list[Round] = []

    def measured() -> Measurement:
        return Measurement(tuple(finished), 1, cost, False, errors, subject.threads)

    with untraced():
        _warm_up(subject, cost.clock_ns)
        try:
            for _ in range(rounds):
                round_ = _run_round(subject, subject.prepared(), cost.clock_ns, errors)
                finished.append(round_)  # at once: the next may hang
        except HangError as error:
            error.measured = measured() if finished else None
            raise
    return measured()


def _warm_up(subject: StressRun, overhead_ns: float) -> None:
    """Run the round that is not counted; raise UsageError if the function returns coroutines."""
    call = subject.prepared()
    if operation.is_async(call):
        _run_round(subject, call, overhead_ns, ErrorCounts())
        return
    checked_call = operation.FirstCallCheck(call)
    _run_round(subject, checked_call, overhead_ns, ErrorCounts())
    checked_call.check()


def _run_round(
    subject: StressRun, call: Callable[..., object], overhead_ns: float, errors: ErrorCounts
) -> Round:
    started_ns: list[int] = []
    # The last thread at the barrier reads the clock before any thread continues.
    barrier = threading.Barrier(subject.threads + 1, lambda: started_ns.append(perf_counter_ns()))
    workers = [
        Worker(call, subject.values(number), subject.per_thread, barrier, errors)
        for number in range(subject.threads)
    ]
    threads = [
        # A daemon: a thread that hangs must not keep the process from ending.
        threading.Thread(target=worker.run, name=f"torr-stress-{number}", daemon=True)
        for number, worker in enumerate(workers)
    ]
    pairs = list(zip(threads, workers, strict=True))
    _start(pairs, barrier, subject)
    _join(pairs, subject)
    raised = sum((worker.errors for worker in workers), Counter[str]())
    times = [max(0.0, time - overhead_ns) for worker in workers for time in worker.times]
    busy_ns = max(worker.ended_ns for worker in workers) - started_ns[0]
    return Round(len(times) + raised.total(), len(times), busy_ns, times, raised)


def _start(pairs: Pairs, barrier: threading.Barrier, subject: StressRun) -> None:
    """Start all threads together."""
    try:
        for thread, _ in pairs:
            thread.start()
        barrier.wait(subject.timeout_s)
    except threading.BrokenBarrierError as error:
        loop_error = next((worker.loop_error for _, worker in pairs if worker.loop_error), None)
        if loop_error is not None:
            raise _too_many_threads(subject, loop_error) from loop_error
        raise _hang(pairs, "begun", subject) from error
    except RuntimeError as error:
        barrier.abort()  # ends the threads that did start
        raise _too_many_threads(subject, error) from error


def _too_many_threads(subject: StressRun, error: Exception) -> UsageError:
    return UsageError(f"threads={subject.threads}: {error}", "use fewer threads")


def _join(pairs: Pairs, subject: StressRun) -> None:
    deadline = monotonic() + subject.timeout_s
    for thread, _ in pairs:
        thread.join(max(0.0, deadline - monotonic()))
    if any(thread.is_alive() for thread, _ in pairs):
        raise _hang(pairs, "ended", subject)


def _hang(pairs: Pairs, step: str, subject: StressRun) -> HangError:
    """Return an error with all stacks, and end the threads that hang."""
    late = [(thread, worker) for thread, worker in pairs if thread.is_alive()]
    text = f"{len(late)} of {subject.threads} threads had not {step} after {subject.timeout_s:g} s"
    error = HangError(text, _stacks([thread for thread, _ in late]))
    for thread, worker in late:
        stop_thread(thread, worker)
    return error


def _stacks(late: Sequence[threading.Thread]) -> str:
    """Return the stacks of all threads; another one may hold what the late ones wait for."""
    frames = sys._current_frames()  # noqa: SLF001 - there is no other way
    own = threading.current_thread()
    others = [thread for thread in threading.enumerate() if thread not in (*late, own)]
    stacks = []
    for thread in (*late, *others):
        frame = frames.get(thread.ident or 0)
        lines = "" if frame is None else "".join(traceback.format_stack(frame))
        stacks.append(f"{thread.name}:\n{lines}")
    return "\n".join(stacks)
