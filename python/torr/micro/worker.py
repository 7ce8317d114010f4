"""One thread of a stress round: it times its operations, and goes on whatever they raise."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import repeat
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from torr.micro import loops, operation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.micro.errors import Errors


class WorkerExit(SystemExit):
    """What ends a thread that nobody waits for any longer; Python says nothing of it."""


@dataclass(slots=True)
class Worker:
    """What one thread runs, and what it has seen; `values` are those of its calls, if any."""

    call: Callable[..., Any]
    values: Sequence[object] | None
    count: int
    barrier: threading.Barrier
    known: Errors
    times: list[int] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    ended_ns: int = 0
    loop: asyncio.AbstractEventLoop | None = None
    refused: OSError | None = None

    def run(self) -> None:
        """Wait for the others, and run all operations; returns where the round was given up."""
        try:
            if operation.is_async(self.call):
                self.loop = asyncio.new_event_loop()
            self.barrier.wait()
            while self._done < self.count:
                self._go_on(self.loop)
        except OSError as error:  # no descriptor for a loop is left
            self.refused = error
            self.barrier.abort()
        except (threading.BrokenBarrierError, WorkerExit):
            pass
        finally:
            self.ended_ns = perf_counter_ns()
            if self.loop is not None:
                operation.close(self.loop)

    @property
    def _done(self) -> int:
        return len(self.times) + self.errors.total()

    def _go_on(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Run what is left; what ends threads, such as SystemExit, ends this only."""
        left = self.count - self._done
        values = None if self.values is None else self.values[-left:]
        try:
            if loop is not None:
                arguments = ((),) * left if values is None else [(value,) for value in values]
                loop.run_until_complete(
                    loops.awaited(self.call, arguments, self.times.append, self._fail)
                )
            elif values is None:
                loops.single(self.call, repeat(None, left), self.times.append, self._fail)
            else:
                loops.single_each(self.call, values, self.times.append, self._fail)
        except WorkerExit:
            raise
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.errors[self.known.take(error)] += 1


def stop(thread: threading.Thread, worker: Worker) -> None:
    """End a thread at its next step in Python; one that waits in a call ends when that returns."""
    ident = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(WorkerExit))
    if worker.loop is not None:
        with suppress(RuntimeError):  # it is closed already
            worker.loop.call_soon_threadsafe(lambda: None)
