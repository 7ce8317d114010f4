"""One thread of a stress round: it times its operations and continues after errors."""

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

    from torr.micro.errors import ErrorCounts


class WorkerExit(SystemExit):
    """Ends a thread that hangs; Python prints no traceback for it."""


@dataclass(slots=True)
class Worker:
    """The operations of one thread, with their times and errors; `values` are their inputs."""

    call: Callable[..., Any]
    values: Sequence[object] | None
    count: int
    barrier: threading.Barrier
    error_counts: ErrorCounts
    times: list[int] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    ended_ns: int = 0
    loop: asyncio.AbstractEventLoop | None = None
    loop_error: OSError | None = None

    def run(self) -> None:
        """Wait for the other threads and run all operations; return early if the round is ended."""
        try:
            if operation.is_async(self.call):
                self.loop = asyncio.new_event_loop()
            self.barrier.wait()
            while self._finished < self.count:
                self._run_remaining(self.loop)
        except OSError as error:  # no file descriptor is left for an event loop
            self.loop_error = error
            self.barrier.abort()
        except (threading.BrokenBarrierError, WorkerExit):
            pass
        finally:
            self.ended_ns = perf_counter_ns()
            if self.loop is not None:
                operation.close(self.loop)

    @property
    def _finished(self) -> int:
        return len(self.times) + self.errors.total()

    def _run_remaining(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Run the remaining operations; an exception such as SystemExit ends only this call."""
        remaining = self.count - self._finished
        values = None if self.values is None else self.values[-remaining:]
        record = loops.LoopRecorder(self.times.append, self._record_error)
        try:
            if loop is not None:
                arguments = ((),) * remaining if values is None else [(value,) for value in values]
                loop.run_until_complete(loops.awaited(self.call, arguments, record))
            elif values is None:
                loops.single(self.call, repeat(None, remaining), record)
            else:
                loops.single_with_input(self.call, values, record)
        except WorkerExit:
            raise
        except BaseException as error:
            self._record_error(error, 0)

    def _record_error(self, error: BaseException, _time_ns: int) -> None:
        self.errors[self.error_counts.add(error)] += 1


def stop_thread(thread: threading.Thread, worker: Worker) -> None:
    """End a thread at its next step in Python; a thread blocked in a call ends after that."""
    ident = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(WorkerExit))
    if worker.loop is not None:
        with suppress(RuntimeError):  # the loop is closed already
            worker.loop.call_soon_threadsafe(lambda: None)
