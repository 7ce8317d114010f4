"""The function to measure, its inputs and its setup, and how one round of it runs."""

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

Inputs = Callable[[int], object] | Sequence[object] | None


@dataclass(frozen=True, slots=True)
class Subject:
    """A function to measure.

    `inputs` gives the one argument of each call: a function of the call's number from 0, or a
    sequence. `setup` is called before each round and is not timed; its result is the first argument
    of each call, unless it is None. With `gc_off` Python's collector is off during a round; it
    always runs before a round.
    """

    call: Call
    inputs: Inputs = None
    setup: Callable[[], object] | None = None
    gc_off: bool = True

    @property
    def is_async(self) -> bool:
        """Return whether calls are awaited."""
        return operation.is_async(self.call)

    def check(self) -> None:
        """Raise UsageError if the function cannot be measured."""
        operation.check(self.call)

    def values(self, count: int) -> Sequence[object] | None:
        """Return the inputs of `count` calls, made before they are timed."""
        if self.inputs is None:
            return None
        if callable(self.inputs):
            return [self.inputs(at) for at in range(count)]
        if len(self.inputs) < count:
            raise UsageError(
                f"there are {len(self.inputs):,} values for {count:,} operations",
                "give a value for each operation, or a function of the operation's number",
            )
        return self.inputs[:count]

    def run(self, count: int, batch: int, record: loops.LoopRecorder) -> None:
        """Run one round: `count` operations, timed in batches of `batch`."""
        values, call = self.values(count), operation.with_setup(self.call, self.setup)
        with self._collector():
            if batch == 1:
                _one_by_one(call, values, count, record)
            else:
                _in_batches(call, values, (count, batch), record)

    def run_first(self, count: int, record: loops.LoopRecorder) -> None:
        """Run a round one by one; raise UsageError if the first call returns a coroutine."""
        values, call = self.values(count), operation.with_setup(self.call, self.setup)
        with self._collector():
            if self.is_async:
                _one_by_one(call, values, count, record)
                return
            checked_call = operation.FirstCallCheck(call)
            _one_by_one(checked_call, None if values is None else values[:1], 1, record)
            checked_call.check()
            _one_by_one(call, None if values is None else values[1:], count - 1, record)

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
    call: Call, values: Sequence[object] | None, count: int, record: loops.LoopRecorder
) -> None:
    # Iterators: after an operation that ends a loop, the next loop continues behind it.
    if operation.is_async(call):
        arguments = iter(((),) * count if values is None else [(value,) for value in values])
        run = partial(operation.run_coroutine, lambda: loops.awaited(call, arguments, record))
    elif values is None:
        run = partial(loops.single, call, repeat(None, count), record)
    else:
        run = partial(loops.single_with_input, call, iter(values), record)
    operation.run_to_end(run, record.error)


def _in_batches(
    call: Call, values: Sequence[object] | None, sizes: tuple[int, int], record: loops.LoopRecorder
) -> None:
    count, batch = sizes
    if values is None:
        run = partial(loops.batched, call, iter([batch] * (count // batch)), record)
    else:
        run = partial(loops.batched_with_inputs, call, iter(list(_cut(values, batch))), record)
    operation.run_to_end(run, record.error)


def _cut(values: Sequence[object], size: int) -> Iterable[Sequence[object]]:
    """Return parts of one size; a smaller rest is omitted."""
    return (values[at : at + size] for at in range(0, len(values) - size + 1, size))
