"""Rounds of one function, in one thread: warm-up, batches where the clock is too coarse, times."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.micro import overhead
from torr.micro.errors import Errors
from torr.micro.tracing import untraced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.micro import loops
    from torr.micro.overhead import Overhead
    from torr.micro.subject import Subject

COUNT, ROUNDS = 1_000, 10

# Below this the clock's own steps and cost would be a part of every time.
_TOO_SHORT_NS = 1_000
_BATCH_NS = 10_000
# Percentiles need samples: no round has fewer batches, and as many as p99 needs where that goes.
_LEAST_BATCHES, _WANTED_BATCHES = 20, 1_000


@dataclass(frozen=True, slots=True)
class Round:
    """One round: times in nanoseconds of operations, each the mean of its batch.

    `attempted` operations were begun, `ok` of them have a time; `busy_ns` is the sum of theirs.
    """

    attempted: int
    ok: int
    busy_ns: float
    times_ns: Sequence[float]
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def ok_per_s(self) -> float:
        """Operations a second, of those that were timed."""
        return self.ok / (self.busy_ns / 1e9) if self.busy_ns else 0.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """The rounds of a function; `batch` operations share a look at the clock."""

    rounds: tuple[Round, ...]
    batch: int
    overhead: Overhead
    gc_off: bool
    errors: Errors
    threads: int = 1


def measure(
    subject: Subject,
    count: int = COUNT,
    rounds: int = ROUNDS,
) -> Measurement:
    """Measure `rounds` rounds of `count` operations each, after one that is not counted.

    That one also says how many operations share a look at the clock; where any raises, none do.
    Raises UsageError for what cannot be measured.
    """
    subject.check()
    check_counts(count, rounds)
    cost = overhead.measured()
    with untraced():
        batch = batch_of(subject, count, cost)
        while True:
            errors = Errors()
            found = [one_round(subject, count, batch, cost, errors) for _ in range(rounds)]
            if batch == 1 or not any(one.errors for one in found):
                return Measurement(tuple(found), batch, cost, subject.gc_off, errors)
            # An error ends its batch, which says nothing then: each operation is timed by itself.
            batch = 1


def check_counts(count: int, rounds: int) -> None:
    """Raise UsageError where there would be no operation or no round."""
    if count < 1 or rounds < 1:
        raise UsageError(f"n={count}, rounds={rounds}: both must be 1 or more")


def one_round(subject: Subject, count: int, batch: int, cost: Overhead, errors: Errors) -> Round:
    """Run one round; errors are counted in it and kept in `errors`."""
    return _round(partial(subject.run, count, batch), batch, cost, errors)


def _round(
    run: Callable[[loops.Take, loops.Fail], None], batch: int, cost: Overhead, errors: Errors
) -> Round:
    raw: list[int] = []
    counted: Counter[str] = Counter()

    def fail(error: BaseException) -> None:
        counted[errors.take(error)] += 1

    run(raw.append, fail)
    least = cost.of(batch)
    times = [max(0.0, time - least) / batch for time in raw]
    attempted = (len(raw) + counted.total()) * batch
    return Round(attempted, len(raw) * batch, sum(times) * batch, times, counted)


def batch_of(subject: Subject, count: int, cost: Overhead) -> int:
    """How many operations share a look at the clock, by a first round, which warms up too."""
    first = _round(partial(subject.run_first, count), 1, cost, Errors())
    if subject.is_async or first.errors or not first.times_ns:
        return 1
    typical = median(first.times_ns)
    if typical >= _TOO_SHORT_NS:
        return 1
    least, most = (math.ceil(ns / max(typical, 1.0)) for ns in (_TOO_SHORT_NS, _BATCH_NS))
    wanted = min(max(least, count // _WANTED_BATCHES), most)
    return max(1, min(wanted, count // _LEAST_BATCHES))
