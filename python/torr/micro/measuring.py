"""Measure rounds of one function in one thread, in batches where the clock is too coarse."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.micro import overhead
from torr.micro.errors import ErrorCounts
from torr.micro.loops import LoopRecorder
from torr.micro.tracing import untraced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.micro.overhead import Overhead
    from torr.micro.subject import Subject

COUNT, ROUNDS = 1_000, 10

# For shorter operations the clock's resolution and cost would distort the times.
_TOO_SHORT_NS = 1_000
_BATCH_NS = 10_000
# Percentiles need samples: the minimum of batches in a round, and the number that p99 needs.
_LEAST_BATCHES, _WANTED_BATCHES = 20, 1_000


@dataclass(frozen=True, slots=True)
class Round:
    """One round: `times_ns` are times of operations in nanoseconds, each the mean of its batch.

    `attempted` operations were started, `ok` of them have a time; `busy_ns` is the time of all.
    """

    attempted: int
    ok: int
    busy_ns: float
    times_ns: Sequence[float]
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def ok_per_s(self) -> float:
        """Return the operations per second that raised nothing."""
        return self.ok / (self.busy_ns / 1e9) if self.busy_ns else 0.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """The rounds of a function; each clock reading covers `batch` operations."""

    rounds: tuple[Round, ...]
    batch: int
    overhead: Overhead
    gc_off: bool
    errors: ErrorCounts
    threads: int = 1


def measure(subject: Subject, count: int = COUNT, rounds: int = ROUNDS) -> Measurement:
    """Measure `rounds` rounds of `count` operations each, after one that is not counted.

    The first one also determines the size of batches, which is 1 where operations raise. Raises
    UsageError if the function cannot be measured.
    """
    subject.check()
    check_counts(count, rounds)
    cost = overhead.timing_overhead()
    with untraced():
        batch = batch_size(subject, count, cost)
        while True:
            errors = ErrorCounts()
            results = [run_round(subject, count, batch, cost, errors) for _ in range(rounds)]
            if batch == 1 or not any(round_.errors for round_ in results):
                return Measurement(tuple(results), batch, cost, subject.gc_off, errors)
            batch = 1  # an error ends its batch, whose time is then unusable


def check_counts(count: int, rounds: int) -> None:
    """Raise UsageError if there would be no operation or no round."""
    if count < 1 or rounds < 1:
        raise UsageError(f"n={count}, rounds={rounds}: both must be 1 or more")


def run_round(
    subject: Subject, count: int, batch: int, cost: Overhead, errors: ErrorCounts
) -> Round:
    """Run one round; its exceptions are added to `errors`, too."""
    return _round(partial(subject.run, count, batch), batch, cost, errors)


def _round(
    run: Callable[[LoopRecorder], None], batch: int, cost: Overhead, errors: ErrorCounts
) -> Round:
    raw: list[int] = []
    raw_of_errors: list[int] = []
    raised: Counter[str] = Counter()

    def record_error(error: BaseException, time_ns: int) -> None:
        raised[errors.add(error)] += 1
        raw_of_errors.append(time_ns)

    run(LoopRecorder(raw.append, record_error))
    overhead_ns = cost.per_batch(batch)
    times = [max(0.0, time - overhead_ns) / batch for time in raw]
    busy_ns = sum(times) * batch + sum(max(0.0, time - overhead_ns) for time in raw_of_errors)
    attempted = (len(raw) + raised.total()) * batch
    return Round(attempted, len(raw) * batch, busy_ns, times, raised)


def batch_size(subject: Subject, count: int, cost: Overhead) -> int:
    """Run a first round, which also warms up, and return the number of operations per batch."""
    first = _round(partial(subject.run_first, count), 1, cost, ErrorCounts())
    if subject.is_async or first.errors or not first.times_ns:
        return 1
    typical = median(first.times_ns)
    if typical >= _TOO_SHORT_NS:
        return 1
    least, most = (math.ceil(ns / max(typical, 1.0)) for ns in (_TOO_SHORT_NS, _BATCH_NS))
    wanted = min(max(least, count // _WANTED_BATCHES), most)
    return max(1, min(wanted, count // _LEAST_BATCHES))
