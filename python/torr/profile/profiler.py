"""Choose the profiler of a target.

A profiler is checked before any load: whether it is installed and has permission. A later failure
is reported and costs only the profile.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from torr.errors import UsageError
from torr.messages.message import message
from torr.messages.say import say
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
    """A tool that profiles the time or memory of a target."""

    @property
    def tool(self) -> str:
        """Return the name of the tool."""

    @property
    def kind(self) -> ProfileKind:
        """Return the kind of its profiles, as in result.json."""

    def check(self) -> None:
        """Raise UsageError if it cannot work here."""

    def take(self, seconds: int) -> Stacks:
        """Profile for `seconds`; raise UsageError with the reason if there is no profile."""

    def stop(self) -> None:
        """Stop early; may be called from another thread, and after the end."""

    def is_gone(self) -> bool:
        """Return whether the profiled process has ended."""


def profiler_of(request: ProfileRequest, pids: Sequence[int] = ()) -> Profiler:
    """Return the profiler of a request: of its URL, else of its process, else of `pids`.

    `pids` are those of a server, parents before their children. Raises UsageError if there is
    no such process, or none that can be profiled in this way.
    """
    if request.url is not None:
        return Pprof(request.url)
    pids = pids if request.pid is None else (request.pid,)
    programs = {pid: _program(pid) for pid in pids}
    pythons = [pid for pid, program in programs.items() if program.startswith(_PYTHON)]
    if request.kind == "memory":
        if not pythons:
            raise UsageError(
                message(
                    "profile.no_python",
                    "--profile memory needs a Python process, and there is none",
                ),
                message("hint.no_python", "name a Python process, or leave `memory` out"),
            )
        return Memray(tuple(pythons))
    # py-spy profiles children, too: the first Python is the ancestor of the others.
    return PySpy(pythons[0]) if pythons else Perf(tuple(pids))


def check_for(programs: Iterable[str]) -> None:
    """Raise UsageError if the CPU profiler for servers started by these programs is missing.

    A program with another name may start a Python, so either py-spy or perf suffices for it; which
    one is used is decided when it runs.
    """
    py_spy, perf = _missing(PySpy(0)), _missing(Perf(()))
    if py_spy is None:
        return
    if any(Path(program).name.startswith(_PYTHON) for program in programs):
        raise py_spy
    if perf is not None:
        hint = say("of a Python: {hint}; of others: {hint_2}", hint=py_spy.hint, hint_2=perf.hint)
        raise UsageError(say("--profile cpu needs py-spy or perf, and neither is installed"), hint)


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
        text = message(
            "profile.of_source",
            "--profile {source}: {reason}",
            source=pid,
            reason=error.strerror or str(error),
        )
        hint = message(
            "hint.no_process", "name a process of yours that runs, or run torr as its user"
        )
        raise UsageError(text, hint) from error
