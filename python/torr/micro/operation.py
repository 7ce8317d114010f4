"""Call and check operations: plain functions, and async ones, whose calls are awaited.

A call of an async function only makes a coroutine, so timing it would measure nothing. Generator
functions are refused before the first call, functions that return a coroutine after it.
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
Value = TypeVar("Value")


def is_async(call: Call) -> bool:
    """Return whether the calls of a function must be awaited."""
    return any(map(inspect.iscoroutinefunction, _functions(call)))


def check(call: Call) -> None:
    """Raise UsageError for what is not callable, and for generator functions."""
    if not callable(call):
        raise UsageError(f"{call!r} cannot be called", "give a function")
    for function in _functions(call):
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise UsageError(
                f"{name_of(call)} is a generator function: a call of it runs nothing",
                "measure a function that consumes the generator, such as lambda: list(f())",
            )


def with_setup(call: Call, setup: Callable[[], object] | None) -> Call:
    """Call the setup of a round; return the function with its result, if any, as first argument."""
    state = None if setup is None else setup()
    return call if state is None else partial(call, state)


class FirstCallCheck:
    """A function whose results are checked: they must not be coroutines."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._returned_coroutine = False

    def __call__(self, *values: object) -> object:
        """Call the function; note and close a coroutine."""
        result = self._call(*values)
        if inspect.iscoroutine(result):
            self._returned_coroutine = True
            result.close()
        return result

    def check(self) -> None:
        """Raise UsageError if the function returned a coroutine."""
        if self._returned_coroutine:
            raise UsageError(
                f"{name_of(self._call)} returned a coroutine, which is never awaited:"
                " it runs nothing",
                "give the async function itself",
            )


def run_coroutine(make: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine in a new event loop, and in a new thread if a loop runs in this one.

    Tests may run in a loop of another library, such as that of a browser driver.
    """
    if is_on_a_loop():
        run_in_thread(lambda: asyncio.run(make()))
    else:
        asyncio.run(make())


def run_to_end(
    run: Callable[[], None], record_error: Callable[[BaseException, int], object]
) -> None:
    """Call a resumable loop until it returns.

    SystemExit and CancelledError count as errors of one operation, whose time is not known.
    KeyboardInterrupt is raised.
    """
    while True:
        try:
            run()
        except (SystemExit, asyncio.CancelledError) as error:  # noqa: PERF203 - timing is inside
            record_error(error, 0)
        else:
            return


def is_on_a_loop() -> bool:
    """Return whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def run_in_thread(work: Callable[[], Value]) -> Value:
    """Run a function in a new thread and return its result, or raise its exception.

    An interrupt of this thread does not wait for the new one.
    """
    result: Future[Value] = Future()

    def do() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=do, name="torr-micro", daemon=True).start()
    return result.result()


def close(loop: asyncio.AbstractEventLoop) -> None:
    """Close an event loop as asyncio.run does: cancel its tasks and wait for them."""
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
    """Return the function behind partials; of a callable object also its `__call__`."""
    call = _without_partials(call)
    return (call,) if inspect.isroutine(call) else (call, type(call).__call__)


def name_of(call: Call) -> str:
    """Return the name of a function as it was written."""
    call = _without_partials(call)
    return str(getattr(call, "__name__", None) or repr(call))


def _without_partials(call: Call) -> Call:
    while isinstance(call, partial):
        call = call.func
    return call
