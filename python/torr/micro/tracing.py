"""Tracers, such as those of coverage and debuggers, kept out of what is timed.

They would be a part of every time, and of the overhead that is taken off it. What watches by
sys.monitoring stays: it looks at each line once.
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
    """Inside the block neither this thread nor one that begins is traced or profiled by Python."""
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


# A cProfile.Profile is what it set, and nothing that could be set again: it has its own switch.
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
