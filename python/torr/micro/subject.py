"""What is measured: a function, what it is called with, and what is made new for each round."""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from torr.errors import UsageError
from torr.micro import loops

Call = Callable[..., Any]
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
        call = self.call
        while isinstance(call, partial):
            call = call.func
        return inspect.iscoroutinefunction(call)

    def check(self) -> None:
        """Raise UsageError where it cannot be measured."""
        if not callable(self.call):
            raise UsageError(f"{self.call!r} cannot be called", "give a function")
        if inspect.isgeneratorfunction(self.call):
            raise UsageError(
                f"{self.call.__name__} is a generator function: a call of it runs nothing",
                "measure a function that uses it up, such as lambda: list(f())",
            )

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
            if self.is_async:
                arguments = ((),) * count if values is None else [(value,) for value in values]
                _run(lambda: loops.awaited(call, arguments, take, fail))
            elif values is None and batch == 1:
                loops.single(call, count, take, fail)
            elif values is None:
                loops.batched(call, [len(part) for part in _cut(range(count), batch)], take, fail)
            elif batch == 1:
                loops.single_each(call, values, take, fail)
            else:
                loops.batched_each(call, list(_cut(values, batch)), take, fail)

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


def _run(make: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine on a loop of its own, in a thread of its own where one runs in this already.

    Tests may stand on a loop of somebody else's, such as that of a browser's driver.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(make())
        return
    with ThreadPoolExecutor(1, thread_name_prefix="torr-micro") as threads:
        threads.submit(lambda: asyncio.run(make())).result()


def _cut(values: Sequence[object], size: int) -> Iterable[Sequence[object]]:
    """Parts of one size; what is left over for a smaller one is left out."""
    return (values[at : at + size] for at in range(0, len(values) - size + 1, size))
