"""The loops that time operations; they contain only what has to run between two clock readings.

Times are in nanoseconds. The time of an operation that raises goes with its error. In a batch the
clock is read once for many operations: an error ends the batch, whose time is then unusable.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import repeat
from time import perf_counter_ns
from typing import NamedTuple


class LoopRecorder(NamedTuple):
    """The functions that a loop calls with the time of each operation, or its error and time."""

    time: Callable[[int], object]
    error: Callable[[BaseException, int], object]


# An operation may raise any Exception: it is recorded, and the loop continues. Exceptions that end
# a program or a task end the loop; a caller that passed an iterator can continue behind them.


def single(call: Callable[[], object], repeats: Iterable[object], record: LoopRecorder) -> None:
    """Time one call per repeat."""
    clock = perf_counter_ns
    record_time, record_error = record
    for _ in repeats:
        began = clock()
        try:
            call()
            ended = clock()
        except Exception as error:
            record_error(error, clock() - began)
        else:
            record_time(ended - began)


def single_with_input(
    call: Callable[[object], object], values: Iterable[object], record: LoopRecorder
) -> None:
    """Time one call per value."""
    clock = perf_counter_ns
    record_time, record_error = record
    for value in values:
        began = clock()
        try:
            call(value)
            ended = clock()
        except Exception as error:
            record_error(error, clock() - began)
        else:
            record_time(ended - began)


def batched(call: Callable[[], object], batches: Iterable[int], record: LoopRecorder) -> None:
    """Time batches of calls, given the number of calls in each batch."""
    clock = perf_counter_ns
    record_time, record_error = record
    for count in batches:
        began = clock()
        try:
            for _ in repeat(None, count):
                call()
            ended = clock()
        except Exception as error:
            record_error(error, clock() - began)
        else:
            record_time(ended - began)


def batched_with_inputs(
    call: Callable[[object], object], batches: Iterable[Sequence[object]], record: LoopRecorder
) -> None:
    """Time batches of calls, given the values of each batch."""
    clock = perf_counter_ns
    record_time, record_error = record
    for values in batches:
        began = clock()
        try:
            for value in values:
                call(value)
            ended = clock()
        except Exception as error:
            record_error(error, clock() - began)
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
        began = clock()
        try:
            await call(*values)
            ended = clock()
        except Exception as error:
            record_error(error, clock() - began)
        else:
            record_time(ended - began)


def empty(count: int, record_time: Callable[[int], object]) -> None:
    """Time nothing, `count` times: the overhead of `single` per operation."""
    clock = perf_counter_ns
    for _ in repeat(None, count):
        began = clock()
        try:
            ended = clock()
        except Exception:
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
