"""The loops that time operations; they contain only what has to run between two clock readings.

Times are in nanoseconds. An operation that raises has no time. In a batch the clock is read once
for many operations: an error ends the batch, whose time is then unusable.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import repeat
from time import perf_counter_ns
from typing import NamedTuple


class LoopRecorder(NamedTuple):
    """The functions that a loop calls with the time or the error of each operation."""

    time: Callable[[int], object]
    error: Callable[[BaseException], object]


# An operation may raise any Exception: it is recorded, and the loop continues. Exceptions that end
# a program or a task end the loop; a caller that passed an iterator can continue behind them.


def single(call: Callable[[], object], repeats: Iterable[object], record: LoopRecorder) -> None:
    """Time one call per repeat."""
    clock = perf_counter_ns
    record_time, record_error = record
    for _ in repeats:
        try:
            began = clock()
            call()
            ended = clock()
        except Exception as error:  # noqa: PERF203 - see above
            record_error(error)
        else:
            record_time(ended - began)


def single_with_input(
    call: Callable[[object], object], values: Iterable[object], record: LoopRecorder
) -> None:
    """Time one call per value."""
    clock = perf_counter_ns
    record_time, record_error = record
    for value in values:
        try:
            began = clock()
            call(value)
            ended = clock()
        except Exception as error:  # noqa: PERF203 - see above
            record_error(error)
        else:
            record_time(ended - began)


def batched(call: Callable[[], object], batches: Iterable[int], record: LoopRecorder) -> None:
    """Time batches of calls, given the number of calls in each batch."""
    clock = perf_counter_ns
    record_time, record_error = record
    for count in batches:
        try:
            began = clock()
            for _ in repeat(None, count):
                call()
            ended = clock()
        except Exception as error:  # noqa: PERF203 - see above
            record_error(error)
        else:
            record_time(ended - began)


def batched_with_inputs(
    call: Callable[[object], object], batches: Iterable[Sequence[object]], record: LoopRecorder
) -> None:
    """Time batches of calls, given the values of each batch."""
    clock = perf_counter_ns
    record_time, record_error = record
    for values in batches:
        try:
            began = clock()
            for value in values:
                call(value)
            ended = clock()
        except Exception as error:  # noqa: PERF203 - see above
            record_error(error)
        else:
            record_time(ended - began)


async def awaited(
    call: Callable[..., Awaitable[object]],
    arguments: Iterable[Sequence[object]],
    record: LoopRecorder,
) -> None:
    """Time calls including the await of their results."""
    clock = perf_counter_ns
    record_time, record_error = record
    for values in arguments:
        try:
            began = clock()
            await call(*values)
            ended = clock()
        except Exception as error:  # noqa: PERF203 - see above
            record_error(error)
        else:
            record_time(ended - began)


def empty(count: int, record_time: Callable[[int], object]) -> None:
    """Time nothing, `count` times: the overhead of `single` per operation."""
    clock = perf_counter_ns
    for _ in repeat(None, count):
        try:
            began = clock()
            ended = clock()
        except Exception:  # noqa: PERF203 - as in `single`
            raise
        else:
            record_time(ended - began)


def empty_batches(batches: Iterable[int], record_time: Callable[[int], object]) -> None:
    """Time batches of empty loop turns: the overhead of `batched`."""
    clock = perf_counter_ns
    for count in batches:
        began = clock()
        for _ in repeat(None, count):
            pass
        ended = clock()
        record_time(ended - began)
