"""The one order in which every verb ends, once its measurements are on disk.

    judge ─ JUnit ─ reports and pictures ─ register ─ print ─ exit code

A step that fails costs only the later ones, so what comes first needs least: the verdict of a
gate, then pictures, a database, a terminal. What a step does is the verb's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from torr.cli.streams import printed
from torr.results.result import RunResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torr.results.result import RunResult

Kept = TypeVar("Kept")


def nothing(_result: RunResult) -> None:
    """Do nothing: the verb has no such step."""


@dataclass(frozen=True, slots=True)
class Steps(Generic[Kept]):
    """What a verb does at its end.

    `judge` completes result.json and returns it, `draw` returns the files to name, and `register`
    returns what is known of the kept run. `end` raises the error that the process ends with.
    """

    judge: Callable[[], RunResult]
    draw: Callable[[RunResult], list[Path]]
    register: Callable[[], Kept]
    show: Callable[[RunResult, list[Path], Kept], None]
    write_junit: Callable[[RunResult], None] = nothing
    end: Callable[[RunResult], None] = nothing


def finish(steps: Steps[Kept]) -> None:
    """Take the steps in their order; raise the error of the first that fails."""
    result = steps.judge()
    steps.write_junit(result)
    paths = steps.draw(result)
    kept = steps.register()
    printed.is_in_files = True
    steps.show(result, paths, kept)
    steps.end(result)
