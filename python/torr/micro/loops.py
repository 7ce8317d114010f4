"""The loops that time operations: what stands between two looks at the clock stands here alone.

Each takes times in nanoseconds with `take`, and hands an error to `fail`. An operation that fails
has no time. In a batch the clock is looked at once for many operations: an error ends the batch,
whose time says nothing then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import repeat
from time import perf_counter_ns

Take = Callable[[int], object]
Fail = Callable[[BaseException], object]

# An operation may raise anything: it is counted, and the next one goes on. What is meant to end a
# program or a task ends the loop; whoever handed it an iterator can go on behind that operation.


def single(call: Callable[[], object], turns: Iterable[object], take: Take, fail: Fail) -> None:
    """Time a call each turn."""
    clock = perf_counter_ns
    for _ in turns:
        try:
            began = clock()
            call()
            ended = clock()
        except Exception as error:  # noqa: PERF203 - see above
            fail(error)
        else:
            take(ended - began)


def single_each(
    call: Callable[[object], object], values: Iterable[object], take: Take, fail: Fail
) -> None:
    """Time a call with each of the values."""
    clock = perf_counter_ns
    for value in values:
        try:
            began = clock()
            call(value)
            ended = clock()
        except Exception as error:  # noqa: PERF203 - see above
            fail(error)
        else:
            take(ended - began)


def batched(call: Callable[[], object], batches: Iterable[int], take: Take, fail: Fail) -> None:
    """Time batches of so many calls each."""
    clock = perf_counter_ns
    for count in batches:
        try:
            began = clock()
            for _ in repeat(None, count):
                call()
            ended = clock()
        except Exception as error:  # noqa: PERF203 - see above
            fail(error)
        else:
            take(ended - began)


def batched_each(
    call: Callable[[object], object],
    batches: Iterable[Sequence[object]],
    take: Take,
    fail: Fail,
) -> None:
    """Time batches of calls, one with each value of a batch."""
    clock = perf_counter_ns
    for values in batches:
        try:
            began = clock()
            for value in values:
                call(value)
            ended = clock()
        except Exception as error:  # noqa: PERF203 - see above
            fail(error)
        else:
            take(ended - began)


async def awaited(
    call: Callable[..., Awaitable[object]],
    arguments: Iterable[Sequence[object]],
    take: Take,
    fail: Fail,
) -> None:
    """Time each call until what it returns is awaited."""
    clock = perf_counter_ns
    for values in arguments:
        try:
            began = clock()
            await call(*values)
            ended = clock()
        except Exception as error:  # noqa: PERF203 - see above
            fail(error)
        else:
            take(ended - began)


def empty(count: int, take: Take) -> None:
    """Time nothing, `count` times: what `single` adds to each operation."""
    clock = perf_counter_ns
    for _ in repeat(None, count):
        try:
            began = clock()
            ended = clock()
        except Exception:  # noqa: PERF203 - stands here because it stands in `single`
            raise
        else:
            take(ended - began)


def empty_batches(batches: Iterable[int], take: Take) -> None:
    """Time loops that do nothing so many times: what `batched` adds."""
    clock = perf_counter_ns
    for count in batches:
        began = clock()
        for _ in repeat(None, count):
            pass
        ended = clock()
        take(ended - began)
