"""Whether a function leaves more and more behind: objects, blocks of memory, resident memory.

Operations run in stretches of equal length; after each, Python's collector has run and what there
is is counted. Growth that ends (a cache that fills, imports, interned names) shows in the first
stretches only; growth that goes on shows all through the second half: of blocks in every stretch,
of bytes in any two neighbours, since a list or a bytearray takes room for an eighth more at a time.
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
_STRETCHES = 10
# One block of memory in a hundred operations, and a few in a stretch: less cannot be told from the
# interpreter's own.
_LEAST_PER_OPERATION = 0.01
_LEAST = 8
# Clean functions trace to the byte; a pointer left by every tenth operation is 0.8 of one.
_LEAST_BYTES_PER_OPERATION = 0.5
_LEAST_BYTES = 256
_PAGE = os.sysconf("SC_PAGE_SIZE")
# What C code holds shows here alone, in pages that allocators take and give back as they like.
_LEAST_RSS = 16 * _PAGE
_MOST_TYPES = 8
_MOST_PLACES = 5

Run = Callable[[range], None]
_SAMPLED = MemorySample.__struct_fields__


def leaks(
    call: Callable[..., object],
    count: int = COUNT,
    given: Callable[[int], object] | None = None,
    limit: int | None = None,
) -> LeakTable:
    """Run operations and say what they left behind; `given` makes a call's value of its number.

    `limit` is how many objects more there may be; without it no growth may go on.
    Calls of an async function are awaited. What a call raises is raised. Raises UsageError for too
    few operations, and for what runs nothing when it is called.
    """
    if count < 10 * _STRETCHES:
        raise UsageError(f"n={count}: {10 * _STRETCHES} operations are the least")
    operation.check(call)
    if operation.is_async(call) and operation.is_on_a_loop():
        found = operation.aside(lambda: _leaks(call, count // _STRETCHES, given))
    else:
        found = _leaks(call, count // _STRETCHES, given)
    met = found.met if limit is None else found.growth <= limit
    return msgspec.structs.replace(found, limit=limit, met=met)


def _leaks(call: Call, size: int, given: Callable[[int], object] | None) -> LeakTable:
    """What stretches of so many operations leave behind; judged by nothing yet."""
    with untraced(), _running(call, given) as run:
        # What the first calls make once (imports, compiled patterns) is no growth.
        run(range(size // 10 or 1))
        before = _types()
        # Numbers in an array are no objects: looking leaves nothing behind that would be seen.
        seen = array("q", [0]) * (len(_SAMPLED) * (_STRETCHES + 1))
        with _traced() as locations:
            _look(seen, 0)
            for stretch in range(_STRETCHES):
                run(range(stretch * size, (stretch + 1) * size))
                _look(seen, stretch + 1)
            # Before the traces are taken, which makes objects of its own.
            grown = _most(_types() - before)
    width = len(_SAMPLED)
    samples = [
        MemorySample(**dict(zip(_SAMPLED, seen[at : at + width], strict=True)))
        for at in range(0, len(seen), width)
    ]
    word = _word(samples, size)
    return LeakTable(
        candidate=operation.name_of(call),
        count=size * _STRETCHES,
        samples=samples,
        types=grown,
        locations=locations,
        growth=samples[-1].objects - samples[0].objects,
        per_operation=_of_one(samples, "blocks", size),
        traced_per_operation=_of_one(samples, "traced_bytes", size),
        rss_per_operation=_of_one(samples, "rss_bytes", size),
        word=word,
        met=word != "growth that goes on",
    )


@contextmanager
def _running(call: Call, given: Callable[[int], object] | None) -> Iterator[Run]:
    """What runs the operations of some numbers; the first call shows whether it leaves all undone.

    Coroutines run on one loop, which is closed at the end.
    """
    if operation.is_async(call):
        loop = asyncio.new_event_loop()
        try:
            yield lambda numbers: loop.run_until_complete(_awaited(call, given, numbers))
        finally:
            operation.close(loop)
        return
    looked = operation.Looked(call)
    _called(looked, given, range(1))
    looked.check()
    yield partial(_called, call, given)


def _called(call: Call, given: Callable[[int], object] | None, numbers: range) -> None:
    if given is None:
        for _ in numbers:
            call()
    else:
        for number in numbers:
            call(given(number))


async def _awaited(call: Call, given: Callable[[int], object] | None, numbers: range) -> None:
    for number in numbers:
        await (call() if given is None else call(given(number)))


def _look(seen: array[int], at: int) -> None:
    gc.collect()
    place = at * len(_SAMPLED)
    seen[place + 1] = sys.getallocatedblocks()
    seen[place] = len(gc.get_objects())
    seen[place + 2] = tracemalloc.get_traced_memory()[0]
    seen[place + 3] = own_private_bytes()


def _types() -> Counter[str]:
    gc.collect()
    return Counter(
        f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects()
    )


def _most(grown: Counter[str]) -> list[tuple[str, int]]:
    """What grew the most, without what is not a tenth of that: Python's own caches, mostly."""
    found = grown.most_common(_MOST_TYPES)
    return [(name, count) for name, count in found if 10 * count >= found[0][1]]


@contextmanager
def _traced() -> Iterator[list[tuple[str, int]]]:
    """Inside the block memory is traced; at its end the list has where the most of it came from.

    No trace is taken at the beginning: it would itself be counted. Where somebody traces already
    the locations are theirs, and the list stays empty.
    """
    locations: list[tuple[str, int]] = []
    if tracemalloc.is_tracing():
        yield locations
        return
    tracemalloc.start()
    try:
        yield locations
        own = tracemalloc.Filter(inclusive=False, filename_pattern=__file__)
        found = tracemalloc.take_snapshot().filter_traces((own,)).statistics("lineno")
        locations += [(str(each.traceback), each.size) for each in found[:_MOST_PLACES]]
    finally:
        tracemalloc.stop()


def _of_one(samples: Sequence[MemorySample], name: str, size: int) -> float:
    """What an operation of the second half leaves behind."""
    later = _second_half(_steps(samples, name))
    return sum(later) / len(later) / size


def _steps(samples: Sequence[MemorySample], name: str) -> list[int]:
    return [getattr(after, name) - getattr(before, name) for before, after in pairwise(samples)]


def _second_half(steps: Sequence[int]) -> Sequence[int]:
    return steps[len(steps) // 2 :]


def _word(samples: Sequence[MemorySample], size: int) -> LeakWord:
    """By blocks, which texts and numbers have too; by bytes, which what grows in place has too."""
    blocks, traced = _steps(samples, "blocks"), _steps(samples, "traced_bytes")
    least = max(_LEAST_PER_OPERATION * size, _LEAST)
    least_bytes = max(_LEAST_BYTES_PER_OPERATION * size, _LEAST_BYTES)
    if (
        min(_second_half(blocks)) >= least
        or _goes_on(_second_half(traced), least_bytes)
        or _least_of_two(_second_half(_steps(samples, "rss_bytes"))) >= _LEAST_RSS
    ):
        return "growth that goes on"
    has_grown = sum(blocks) >= least or sum(traced) >= 2 * _STRETCHES * least_bytes
    return "growth that ends" if has_grown else "no growth"


def _goes_on(steps: Sequence[int], least: float) -> bool:
    """Whether bytes grow all along, or at times, to the end: a large list takes room so rarely."""
    at_times = sum(step >= least for step in steps) > 1
    is_to_the_end = max(steps[-2:]) >= least
    is_enough = sum(steps) >= len(steps) * least
    return _least_of_two(steps) >= 2 * least or (at_times and is_to_the_end and is_enough)


def _least_of_two(steps: Sequence[int]) -> int:
    """The least that two neighbours grew by together."""
    return min(one + other for one, other in pairwise(steps))
