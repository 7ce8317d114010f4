"""What takes a profile while a load runs, chosen by what there is to look at.

A profiler is checked before any load: whether it is there and may look. What goes wrong later is
told, and costs the profile alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from torr.errors import UsageError
from torr.procfs.process import program_of
from torr.profile.go import Pprof
from torr.profile.memory import Memray
from torr.profile.perf import Perf
from torr.profile.pyspy import PySpy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torr.model.profiling import ProfileRequest
    from torr.profile.stacks import Stacks
    from torr.results.profile import ProfileKind

_PYTHON = "python"


class Profiler(Protocol):
    """One way to see where a target's time or memory goes."""

    @property
    def tool(self) -> str:
        """What people call it."""

    @property
    def kind(self) -> ProfileKind:
        """What it sees, as result.json says it."""

    def check(self) -> None:
        """Raise UsageError where it cannot work here."""

    def take(self, seconds: int) -> Stacks:
        """Look for so long; raises UsageError that says why there is no profile."""

    def stop(self) -> None:
        """Look no longer: called from another thread, and when it is over, too."""

    def is_gone(self) -> bool:
        """Whether what it looks at has ended."""


def profiler_of(asked: ProfileRequest, pids: Sequence[int] = ()) -> Profiler:
    """Return what does as asked: by URL, else on the process that is named, else on `pids`.

    `pids` are those of a server, parents before their children. Raises UsageError where there is
    no such process, or none that can be looked at so.
    """
    if asked.url is not None:
        return Pprof(asked.url)
    pids = pids if asked.pid is None else (asked.pid,)
    programs = {pid: _program(pid) for pid in pids}
    pythons = [pid for pid, program in programs.items() if program.startswith(_PYTHON)]
    if asked.kind == "memory":
        if not pythons:
            raise UsageError(
                "--profile memory sees memory of a Python, and there is none",
                "name a Python process, or leave `memory` out",
            )
        return Memray(tuple(pythons))
    # py-spy looks at children too: the first Python is above the others.
    return PySpy(pythons[0]) if pythons else Perf(tuple(pids))


def check_for(programs: Iterable[str]) -> None:
    """Raise UsageError where what sees the CPU of servers is missing, as far as that can be told.

    `programs` start them. One whose name is no Python's may still lead to one, so py-spy or perf
    will do; which of them is seen when it runs.
    """
    py_spy, perf = _missing(PySpy(0)), _missing(Perf(()))
    if py_spy is None:
        return
    if any(Path(each).name.startswith(_PYTHON) for each in programs):
        raise py_spy
    if perf is not None:
        hint = f"of a Python: {py_spy.hint}; of others: {perf.hint}"
        raise UsageError("--profile cpu needs py-spy or perf, and neither is installed", hint)


def _missing(profiler: Profiler) -> UsageError | None:
    try:
        profiler.check()
    except UsageError as error:
        return error
    return None


def _program(pid: int) -> str:
    try:
        return program_of(pid)
    except OSError as error:
        hint = "name a process of yours that runs, or run torr as its user"
        raise UsageError(f"--profile {pid}: {error.strerror or error}", hint) from error
