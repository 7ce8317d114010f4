"""What an operation is: a function that is called, or one whose call is awaited.

A call of an async function makes a coroutine and runs nothing of it; timing that would say that
everything is fast. What is known to do so is refused before, what returns one after its first call.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from torr.errors import UsageError

Call = Callable[..., Any]
Found = TypeVar("Found")


def is_async(call: Call) -> bool:
    """Whether its calls are to be awaited."""
    return any(map(inspect.iscoroutinefunction, _functions(call)))


def check(call: Call) -> None:
    """Raise UsageError for what cannot be called, and for what runs nothing when it is."""
    if not callable(call):
        raise UsageError(f"{call!r} cannot be called", "give a function")
    for each in _functions(call):
        if inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each):
            raise UsageError(
                f"{name_of(call)} is a generator function: a call of it runs nothing",
                "measure a function that uses it up, such as lambda: list(f())",
            )


class Looked:
    """An operation whose first result is looked at; it must be no coroutine."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._forgotten = False

    def __call__(self, *values: object) -> object:
        """Call it, and close what nobody would await."""
        found = self._call(*values)
        if inspect.iscoroutine(found):
            self._forgotten = True
            found.close()
        return found

    def check(self) -> None:
        """Raise UsageError where it returned a coroutine."""
        if self._forgotten:
            raise UsageError(
                f"{name_of(self._call)} returned a coroutine, which nobody awaits: it runs nothing",
                "give the async function itself",
            )


def wait_for(make: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine on a loop of its own, in a thread of its own where one runs in this already.

    Tests may stand on a loop of somebody else's, such as that of a browser's driver.
    """
    if is_on_a_loop():
        aside(lambda: asyncio.run(make()))
    else:
        asyncio.run(make())


def to_the_end(run: Callable[[], None], fail: Callable[[BaseException], object]) -> None:
    """Call what goes on where it left off until it comes back, whatever operations raise.

    SystemExit and CancelledError are errors of one operation. KeyboardInterrupt ends all.
    """
    while True:
        try:
            run()
        except (SystemExit, asyncio.CancelledError) as error:  # noqa: PERF203 - what is timed is inside
            fail(error)
        else:
            return


def is_on_a_loop() -> bool:
    """Whether a loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def aside(work: Callable[[], Found]) -> Found:
    """Return what some work in a thread of its own comes to; raises what that raises.

    Whoever interrupts this thread is not kept waiting for that one, which ends when it can.
    """
    found: Future[Found] = Future()

    def do() -> None:
        try:
            found.set_result(work())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=do, name="torr-micro", daemon=True).start()
    return found.result()


def close(loop: asyncio.AbstractEventLoop) -> None:
    """Close a loop as asyncio.run does: what was begun on it is cancelled, and waited for."""
    try:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _functions(call: Call) -> tuple[Call, ...]:
    """A function as it was written, and for objects that can be called, what that calls."""
    while isinstance(call, partial):
        call = call.func
    return (call,) if inspect.isroutine(call) else (call, type(call).__call__)


def name_of(call: Call) -> str:
    """Return the name of a function as it was written."""
    while isinstance(call, partial):
        call = call.func
    return str(getattr(call, "__name__", None) or repr(call))
