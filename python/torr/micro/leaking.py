"""Whether a function leaves more and more behind: objects, blocks of memory, resident memory.

Operations run in stretches of equal length; after each, Python's collector has run and what there
is is counted. Growth that ends (a cache that fills, imports, interned names) shows in the first
stretches only; growth that goes on shows in every one of the second half.
"""

from __future__ import annotations

import gc
import os
import sys
import tracemalloc
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from torr.errors import UsageError

COUNT = 10_000
_STRETCHES = 10
# One block of memory in a hundred operations, and a few in a stretch: less cannot be told from the
# interpreter's own.
_LEAST_PER_OPERATION = 0.01
_LEAST = 8
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_TYPES = 8
_MOST_PLACES = 5

Word = Literal["no growth", "growth that ends", "growth that goes on"]


@dataclass(frozen=True, slots=True)
class Look:
    """What there is at one moment: objects that the collector knows, blocks, bytes."""

    objects: int
    blocks: int
    traced_bytes: int
    rss_bytes: int

    def as_json(self) -> dict[str, int]:
        """Return it as result.json has it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Leaks:
    """What `count` operations left behind.

    `looks` are those before the first and after each stretch; `types` and `places` say what grew by
    how many objects and, of traced memory, where how many bytes were allocated.
    """

    count: int
    looks: tuple[Look, ...]
    types: Sequence[tuple[str, int]]
    places: Sequence[tuple[str, int]]
    word: Word

    @property
    def growth(self) -> int:
        """Objects more at the end than at the beginning."""
        return self.looks[-1].objects - self.looks[0].objects

    @property
    def per_operation(self) -> float:
        """Blocks of memory that an operation of the second half leaves behind."""
        steps = _steps(self.looks)[len(self.looks) // 2 :]
        return sum(steps) / len(steps) / (self.count / _STRETCHES)

    def as_json(self) -> dict[str, Any]:
        """Return it as result.json has it."""
        return {
            "count": self.count,
            "looks": [look.as_json() for look in self.looks],
            "types": [list(each) for each in self.types],
            "places": [list(each) for each in self.places],
            "growth": self.growth,
            "per_operation": self.per_operation,
            "word": self.word,
        }


def leaks(
    call: Callable[..., object],
    count: int = COUNT,
    given: Callable[[int], object] | None = None,
) -> Leaks:
    """Run operations and say what they left behind; `given` makes a call's value of its number.

    What a call raises is raised. Raises UsageError for too few operations.
    """
    if count < 10 * _STRETCHES:
        raise UsageError(f"n={count}: {10 * _STRETCHES} operations are the least")
    size = count // _STRETCHES
    # What the first calls make once (imports, compiled patterns) is no growth.
    _run(call, given, range(size // 10 or 1))
    before = _types()
    # Numbers in an array are no objects: looking leaves nothing behind that would be seen.
    seen = array("q", [0]) * (len(Look.__slots__) * (_STRETCHES + 1))
    with _traced() as places:
        _look(seen, 0)
        for stretch in range(_STRETCHES):
            _run(call, given, range(stretch * size, (stretch + 1) * size))
            _look(seen, stretch + 1)
    grown = (_types() - before).most_common(_MOST_TYPES)
    width = len(Look.__slots__)
    looks = tuple(Look(*seen[at : at + width]) for at in range(0, len(seen), width))
    return Leaks(size * _STRETCHES, looks, grown, places, _word(looks, size))


def _run(
    call: Callable[..., object], given: Callable[[int], object] | None, numbers: range
) -> None:
    if given is None:
        for _ in numbers:
            call()
    else:
        for number in numbers:
            call(given(number))


def _look(seen: array[int], at: int) -> None:
    gc.collect()
    place = at * len(Look.__slots__)
    seen[place + 1] = sys.getallocatedblocks()
    seen[place] = len(gc.get_objects())
    seen[place + 2] = tracemalloc.get_traced_memory()[0]
    seen[place + 3] = _rss_bytes()


def _rss_bytes() -> int:
    # Without a buffer or a path, which would leave something behind for a while.
    descriptor = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        return int(os.read(descriptor, 256).split()[1]) * _PAGE
    finally:
        os.close(descriptor)


def _types() -> Counter[str]:
    gc.collect()
    return Counter(
        f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects()
    )


@contextmanager
def _traced() -> Iterator[list[tuple[str, int]]]:
    """Inside the block memory is traced; at its end the list has where the most of it came from.

    No trace is taken at the beginning: it would itself be counted. Where somebody traces already
    the places are theirs, and the list stays empty.
    """
    places: list[tuple[str, int]] = []
    if tracemalloc.is_tracing():
        yield places
        return
    tracemalloc.start()
    try:
        yield places
        own = tracemalloc.Filter(inclusive=False, filename_pattern=__file__)
        found = tracemalloc.take_snapshot().filter_traces((own,)).statistics("lineno")
        places += [(str(each.traceback), each.size) for each in found[:_MOST_PLACES]]
    finally:
        tracemalloc.stop()


def _steps(looks: Sequence[Look]) -> list[int]:
    return [after.blocks - before.blocks for before, after in pairwise(looks)]


def _word(looks: Sequence[Look], size: int) -> Word:
    """By blocks, which objects without the collector have too, such as texts and numbers."""
    steps = _steps(looks)
    least = max(_LEAST_PER_OPERATION * size, _LEAST)
    if min(steps[len(steps) // 2 :]) >= least:
        return "growth that goes on"
    return "growth that ends" if sum(steps) >= least else "no growth"
