"""Count and time the lines of functions with line-profiler."""

from __future__ import annotations

import linecache
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.messages.message import message
from torr.profile.tools import not_installed
from torr.results.profile import ProfiledLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TOOL, KIND = "line-profiler", "lines"

_HINT = "pip install line-profiler"


def check() -> None:
    """Raise UsageError if line-profiler is not installed in torr's environment."""
    if find_spec("line_profiler") is None:
        raise UsageError(not_installed("--torr-profile lines", TOOL), _HINT)


def profile_lines(
    work: Callable[[], object], functions: Sequence[Callable[..., Any]]
) -> list[ProfiledLine]:
    """Call `work` and return the lines of functions that ran in it, in their order.

    Raises UsageError for a function that is not written in Python, and if no line ran.
    """
    check()
    from line_profiler import LineProfiler

    profiler = LineProfiler()
    for function in map(_innermost, functions):
        require(
            hasattr(getattr(function, "__func__", function), "__code__"),
            message(
                "profile.no_python_function",
                "{function} has no lines: it is not written in Python",
                function=repr(function),
            ),
            message("hint.python_functions", "name functions that are: lines=[…]"),
        )
        profiler.add_function(function)
    profiler.enable_by_count()
    try:
        work()
    finally:
        profiler.disable_by_count()
    stats = profiler.get_stats()
    scale = stats.unit * 1e9
    lines = [
        ProfiledLine(
            location=f"{Path(file).name}:{line}",
            code=linecache.getline(file, line).strip(),
            hits=hits,
            ns=round(time * scale),
        )
        for (file, _, _), timings in sorted(stats.timings.items())
        for line, hits, time in timings
    ]
    require(
        bool(lines),
        message("profile.no_line", "no line of these functions ran"),
        message("hint.functions_that_run", "name functions that run: lines=[…]"),
    )
    return lines


def _innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function behind a partial; any other function as it is."""
    return function.func if isinstance(function, partial) else function
