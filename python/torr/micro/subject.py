"""What is measured: a function, what it is called with, and what is made new for each round."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.micro import loops, operation

if TYPE_CHECKING:
    from torr.micro.operation import Call

Values = Callable[[int], object] | Sequence[object] | None


@dataclass(frozen=True, slots=True)
class Subject:
    """A function and its surroundings.

    `given` is the one value that a call gets: of the call's number from 0, or one after another.
    `setup` is called before each round, outside of every time; what it returns comes first in each
    call, unless that is None. `gc_off` keeps Python's collector out of the rounds; it collects
    before each of them.
    """

    call: Call
    given: Values = None
    setup: Callable[[], object] | None = None
    gc_off: bool = True

    @property
    def is_async(self) -> bool:
        """Whether calls are awaited."""
        return operation.is_async(self.call)

    def check(self) -> None:
        """Raise UsageError where it cannot be measured."""
        operation.check(self.call)

    def values(self, count: int) -> Sequence[object] | None:
        """Return what so many calls get, made before they are timed."""
        if self.given is None:
            return None
        if callable(self.given):
            return [self.given(at) for at in range(count)]
        if len(self.given) < count:
            raise UsageError(
                f"there are {len(self.given):,} values for {count:,} operations",
                "give as many, or a function of the operation's number",
            )
        return self.given[:count]

    def prepared(self) -> Call:
        """Return the function of one round."""
        made = None if self.setup is None else self.setup()
        return self.call if made is None else partial(self.call, made)

    def run(self, count: int, batch: int, take: loops.Take, fail: loops.Fail) -> None:
        """Run one round: `count` operations, timed in batches of `batch`."""
        values, call = self.values(count), self.prepared()
        with self._collector():
            if batch == 1:
                _one_by_one(call, values, count, take, fail)
            else:
                _in_batches(call, values, (count, batch), take, fail)

    def run_first(self, count: int, take: loops.Take, fail: loops.Fail) -> None:
        """Run a round one by one; raises UsageError where the first call leaves all undone."""
        values, call = self.values(count), self.prepared()
        with self._collector():
            if self.is_async:
                _one_by_one(call, values, count, take, fail)
                return
            looked = operation.Looked(call)
            _one_by_one(looked, None if values is None else values[:1], 1, take, fail)
            looked.check()
            _one_by_one(call, None if values is None else values[1:], count - 1, take, fail)

    @contextmanager
    def _collector(self) -> Iterator[None]:
        gc.collect()
        was_on = gc.isenabled()
        if self.gc_off:
            gc.disable()
        try:
            yield
        finally:
            if was_on:
                gc.enable()


def _one_by_one(
    call: Call,
    values: Sequence[object] | None,
    count: int,
    take: loops.Take,
    fail: loops.Fail,
) -> None:
    # Iterators: after an operation that ends a loop the next one goes on with the one behind it.
    if operation.is_async(call):
        arguments = iter(((),) * count if values is None else [(value,) for value in values])
        run = partial(operation.wait_for, lambda: loops.awaited(call, arguments, take, fail))
    elif values is None:
        run = partial(loops.single, call, repeat(None, count), take, fail)
    else:
        run = partial(loops.single_each, call, iter(values), take, fail)
    operation.to_the_end(run, fail)


def _in_batches(
    call: Call,
    values: Sequence[object] | None,
    sizes: tuple[int, int],
    take: loops.Take,
    fail: loops.Fail,
) -> None:
    count, batch = sizes
    if values is None:
        lengths = iter([len(part) for part in _cut(range(count), batch)])
        run = partial(loops.batched, call, lengths, take, fail)
    else:
        run = partial(loops.batched_each, call, iter(list(_cut(values, batch))), take, fail)
    operation.to_the_end(run, fail)


def _cut(values: Sequence[object], size: int) -> Iterable[Sequence[object]]:
    """Parts of one size; what is left over for a smaller one is left out."""
    return (values[at : at + size] for at in range(0, len(values) - size + 1, size))
