"""Find out whether a function leaks objects, blocks of memory or resident memory.

Operations run in segments of equal length; after each, Python's collector runs and memory is
counted. Growth that ends (a cache that fills, imports, interned names) appears in the first
segments only. Growth that goes on appears through the second half: of blocks in every segment, of
bytes in any two neighbours, since a list or bytearray reserves an eighth more at a time.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tracemalloc
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from torr.errors import UsageError
from torr.micro import operation
from torr.micro.tracing import untraced
from torr.procfs.process import own_private_bytes
from torr.results.functions import LeakTable, MemorySample

if TYPE_CHECKING:
    from torr.micro.operation import Call
    from torr.results.verdict import LeakWord

COUNT = 10_000
_SEGMENTS = 10
# One block of memory in a hundred operations, and a few in a segment: less is indistinguishable
# from the interpreter's own allocations.
_LEAST_PER_OPERATION = 0.01
_LEAST = 8
# Functions without leaks trace to the byte; a pointer leaked by every tenth operation is 0.8 bytes.
_LEAST_BYTES_PER_OPERATION = 0.5
_LEAST_BYTES = 256
_PAGE = os.sysconf("SC_PAGE_SIZE")
# Memory of C code appears here alone, in pages that allocators reserve and return irregularly.
_LEAST_RSS = 16 * _PAGE
_MAX_TYPES = 8
_MAX_LOCATIONS = 5

Run = Callable[[range], None]
_SAMPLED = MemorySample.__struct_fields__


def leaks(
    call: Callable[..., object],
    count: int = COUNT,
    inputs: Callable[[int], object] | None = None,
    limit: int | None = None,
) -> LeakTable:
    """Run operations and return what they leaked; `inputs` maps a call's number to its argument.

    `limit` is the highest growth in objects that is met; without it, no growth may go on. Calls of
    an async function are awaited. Exceptions of a call are raised. Raises UsageError for too few
    operations, and for functions whose call runs nothing.
    """
    if count < 10 * _SEGMENTS:
        raise UsageError(f"n={count}: at least {10 * _SEGMENTS} operations are needed")
    operation.check(call)
    if operation.is_async(call) and operation.is_on_a_loop():
        table = operation.run_in_thread(lambda: _leaks(call, count // _SEGMENTS, inputs))
    else:
        table = _leaks(call, count // _SEGMENTS, inputs)
    met = table.met if limit is None else table.growth <= limit
    return msgspec.structs.replace(table, limit=limit, met=met)


def _leaks(call: Call, size: int, inputs: Callable[[int], object] | None) -> LeakTable:
    """Return what segments of `size` operations leak, without a limit."""
    with untraced(), _runner(call, inputs) as run:
        # One-time allocations of the first calls (imports, compiled patterns) are not growth.
        run(range(size // 10 or 1))
        before = _types()
        # Numbers in an array are not objects, so that readings do not count as growth.
        readings = array("q", [0]) * (len(_SAMPLED) * (_SEGMENTS + 1))
        with _traced() as locations:
            _record_sample(readings, 0)
            for segment in range(_SEGMENTS):
                run(range(segment * size, (segment + 1) * size))
                _record_sample(readings, segment + 1)
            # Before the snapshot of traces, which allocates objects.
            growth = _top_types(_types() - before)
    width = len(_SAMPLED)
    samples = [
        MemorySample(**dict(zip(_SAMPLED, readings[at : at + width], strict=True)))
        for at in range(0, len(readings), width)
    ]
    word = _classify(samples, size)
    return LeakTable(
        candidate=operation.name_of(call),
        count=size * _SEGMENTS,
        samples=samples,
        types=growth,
        locations=locations,
        growth=samples[-1].objects - samples[0].objects,
        per_operation=_per_operation(samples, "blocks", size),
        traced_per_operation=_per_operation(samples, "traced_bytes", size),
        rss_per_operation=_per_operation(samples, "rss_bytes", size),
        word=word,
        met=word != "growth that goes on",
    )


@contextmanager
def _runner(call: Call, inputs: Callable[[int], object] | None) -> Iterator[Run]:
    """Return a function that runs the operations of a range, after a check of the first call.

    Coroutines run in one event loop, which is closed at the end.
    """
    if operation.is_async(call):
        loop = asyncio.new_event_loop()
        try:
            yield lambda numbers: loop.run_until_complete(_await_calls(call, inputs, numbers))
        finally:
            operation.close(loop)
        return
    checked_call = operation.FirstCallCheck(call)
    _run_calls(checked_call, inputs, range(1))
    checked_call.check()
    yield partial(_run_calls, call, inputs)


def _run_calls(call: Call, inputs: Callable[[int], object] | None, numbers: range) -> None:
    if inputs is None:
        for _ in numbers:
            call()
    else:
        for number in numbers:
            call(inputs(number))


async def _await_calls(call: Call, inputs: Callable[[int], object] | None, numbers: range) -> None:
    for number in numbers:
        await (call() if inputs is None else call(inputs(number)))


def _record_sample(readings: array[int], at: int) -> None:
    gc.collect()
    index = at * len(_SAMPLED)
    readings[index + 1] = sys.getallocatedblocks()
    readings[index] = len(gc.get_objects())
    readings[index + 2] = tracemalloc.get_traced_memory()[0]
    readings[index + 3] = own_private_bytes()


def _types() -> Counter[str]:
    gc.collect()
    return Counter(
        f"{type(item).__module__}.{type(item).__qualname__}" for item in gc.get_objects()
    )


def _top_types(growth: Counter[str]) -> list[tuple[str, int]]:
    """Return the types that grew most; below a tenth of the first they are Python's own caches."""
    types = growth.most_common(_MAX_TYPES)
    return [(name, count) for name, count in types if 10 * count >= types[0][1]]


@contextmanager
def _traced() -> Iterator[list[tuple[str, int]]]:
    """Trace memory in the block; at its end the list has the locations that allocated most of it.

    No snapshot is taken at the start, since it would be counted. If tracing is on already, the list
    stays empty.
    """
    locations: list[tuple[str, int]] = []
    if tracemalloc.is_tracing():
        yield locations
        return
    tracemalloc.start()
    try:
        yield locations
        own = tracemalloc.Filter(inclusive=False, filename_pattern=__file__)
        traces = tracemalloc.take_snapshot().filter_traces((own,)).statistics("lineno")
        locations += [(str(trace.traceback), trace.size) for trace in traces[:_MAX_LOCATIONS]]
    finally:
        tracemalloc.stop()


def _per_operation(samples: Sequence[MemorySample], name: str, size: int) -> float:
    """Return the mean growth per operation in the second half."""
    later = _second_half(_steps(samples, name))
    return sum(later) / len(later) / size


def _steps(samples: Sequence[MemorySample], name: str) -> list[int]:
    return [getattr(after, name) - getattr(before, name) for before, after in pairwise(samples)]


def _second_half(steps: Sequence[int]) -> Sequence[int]:
    return steps[len(steps) // 2 :]


def _classify(samples: Sequence[MemorySample], size: int) -> LeakWord:
    """Classify growth by blocks, which include texts and numbers, and by bytes.

    Bytes include objects that grow in place.
    """
    blocks, traced = _steps(samples, "blocks"), _steps(samples, "traced_bytes")
    least = max(_LEAST_PER_OPERATION * size, _LEAST)
    least_bytes = max(_LEAST_BYTES_PER_OPERATION * size, _LEAST_BYTES)
    if (
        min(_second_half(blocks)) >= least
        or _bytes_keep_growing(_second_half(traced), least_bytes)
        or _least_pair(_second_half(_steps(samples, "rss_bytes"))) >= _LEAST_RSS
    ):
        return "growth that goes on"
    has_grown = sum(blocks) >= least or sum(traced) >= 2 * _SEGMENTS * least_bytes
    return "growth that ends" if has_grown else "no growth"


def _bytes_keep_growing(steps: Sequence[int], least: float) -> bool:
    """Return whether bytes grow to the end, steadily or in jumps as those of a large list."""
    at_times = sum(step >= least for step in steps) > 1
    is_to_the_end = max(steps[-2:]) >= least
    is_enough = sum(steps) >= len(steps) * least
    return _least_pair(steps) >= 2 * least or (at_times and is_to_the_end and is_enough)


def _least_pair(steps: Sequence[int]) -> int:
    """Return the least growth of two neighbouring segments."""
    return min(map(sum, pairwise(steps)))
