"""Disable tracers, such as those of coverage and debuggers, while operations are timed.

They would distort every time, and the overhead that is subtracted. Tools that use sys.monitoring
stay active: coverage by it costs time only once per line.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def untraced() -> Iterator[None]:
    """Disable tracing and profiling in this thread and in threads that start in the block."""
    tracer, profiler = sys.gettrace(), sys.getprofile()
    of_threads, profiler_of_threads = threading.gettrace(), threading.getprofile()
    sys.settrace(None)
    _stop(profiler)
    _of_threads(None, None)
    try:
        yield
    finally:
        _of_threads(of_threads, profiler_of_threads)
        sys.settrace(tracer)
        _go_on(profiler)


# sys.getprofile() returns a cProfile.Profile itself, which sys.setprofile() does not accept.
def _stop(profiler: Any) -> None:  # noqa: ANN401 - any profiler's
    if profiler is None or callable(profiler):
        sys.setprofile(None)
    else:
        profiler.disable()


def _go_on(profiler: Any) -> None:  # noqa: ANN401 - any profiler's
    if profiler is None or callable(profiler):
        sys.setprofile(profiler)
    else:
        profiler.enable()


def _of_threads(tracer: Any, profiler: Any) -> None:  # noqa: ANN401 - None is one, and has no type
    threading.settrace(tracer)
    threading.setprofile(profiler)
