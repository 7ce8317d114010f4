"""line-profiler: how often each line of some functions ran, and how long that took in all."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TOOL, KIND = "line-profiler", "lines"

_HINT = "pip install line-profiler"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of source, as `file:line`; `ns` is in all of its `hits`."""

    place: str
    code: str
    hits: int
    ns: int


def check() -> None:
    """Raise UsageError where line-profiler is not installed beside torr."""
    if find_spec("line_profiler") is None:
        raise UsageError("--torr-profile lines needs line-profiler, which is not installed", _HINT)


def took(work: Callable[[], object], functions: Sequence[Callable[..., Any]]) -> list[Line]:
    """Return the lines of functions that ran during a piece of work, in their order.

    Raises UsageError for what is not written in Python, and where none of them ran.
    """
    check()
    from line_profiler import LineProfiler

    profiler = LineProfiler()
    for function in map(_innermost, functions):
        require(
            hasattr(getattr(function, "__func__", function), "__code__"),
            f"{function!r} has no lines: it is not written in Python",
            "name functions that are: lines=[…]",
        )
        profiler.add_function(function)
    profiler.enable_by_count()
    try:
        work()
    finally:
        profiler.disable_by_count()
    stats = profiler.get_stats()
    scale = stats.unit * 1e9
    found = [
        Line(
            f"{Path(file).name}:{line}",
            linecache.getline(file, line).strip(),
            hits,
            round(time * scale),
        )
        for (file, _, _), timings in sorted(stats.timings.items())
        for line, hits, time in timings
    ]
    require(bool(found), "no line of these functions ran", "name what runs: lines=[…]")
    return found


def _innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a partial calls, which has lines; any other function as it is."""
    return function.func if isinstance(function, partial) else function
