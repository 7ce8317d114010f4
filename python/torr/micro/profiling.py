"""Where a function's time or memory goes: rounds more, behind those that are measured.

They are in no number but that of what the profiler costs.
"""

from __future__ import annotations

import ctypes
import os
import re
import threading
import time
from statistics import median
from typing import TYPE_CHECKING

from torr.errors import TorrError, UsageError
from torr.messages.message import Message
from torr.micro import loops
from torr.micro.errors import Errors
from torr.micro.measuring import one_round
from torr.profile import lines as line_profiler
from torr.profile import memory
from torr.profile.entry import Observation, cost_rate, of_stacks, tried
from torr.profile.pyspy import PySpy
from torr.profile.stacks import Stack, Stacks
from torr.results.profile import Profile, ProfiledLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.micro.measuring import Measurement, Round
    from torr.micro.subject import Subject
    from torr.results.profile import ProfileKind

SECONDS = 2
"""How long py-spy looks."""

_HERTZ = 500
# A kernel with Yama lets nobody but its parents look into a process, unless it says so: prctl(2).
_SET_PTRACER, _ANYBODY = 0x59616D61, ctypes.c_ulong(-1)
_LOOPS = "|".join(
    each.__name__
    for each in (
        *(loops.single, loops.single_each, loops.batched, loops.batched_each),
        loops.awaited,
    )
)
_FRAME = re.compile(rf"(?:{_LOOPS}) \((?:.*/)?loops\.py:\d+\)")


class Profiling:
    """Profiles of one kind, each of one function in rounds as it was measured in."""

    def __init__(self, kind: ProfileKind) -> None:
        """Raise UsageError where the profiler is missing."""
        self.kind = kind
        self.tool = {"cpu": "py-spy", "memory": memory.TOOL, "lines": line_profiler.TOOL}[kind]
        if kind == "lines":
            line_profiler.check()
        else:
            check = PySpy(os.getpid()).check if kind == "cpu" else memory.check
            check("--torr-profile")

    def of(
        self,
        subject: Subject,
        count: int,
        measured: Measurement,
        functions: Sequence[Callable[..., object]] = (),
    ) -> Profile:
        """Return a profile; `functions` are those whose lines are wanted."""
        rounds: list[Round] = []
        errors = Errors()

        def work() -> None:
            rounds.append(one_round(subject, count, measured.batch, measured.overhead, errors))

        began = time.perf_counter()
        try:
            found = self._taken(work, functions or (subject.call,))
        except TorrError as error:
            found = Observation(failure=Message(error.message), hint=error.hint)
        rate = median(one.ok_per_s for one in rounds) if rounds else None
        return Profile(
            kind=self.kind,
            tool=self.tool,
            concurrency=1,
            seconds=max(1, round(time.perf_counter() - began)),
            ok_per_s=rate,
            cost_rate=cost_rate(rate, [one.ok_per_s for one in measured.rounds]),
            unit=found.unit,
            folded=found.folded,
            lines=list(found.lines),
            failure=found.failure,
            hint=found.hint,
        )

    def _taken(
        self, work: Callable[[], None], functions: Sequence[Callable[..., object]]
    ) -> Observation:
        if self.kind == "lines":
            found = line_profiler.took(work, functions)
            lines = [
                ProfiledLine(location=x.place, code=x.code, hits=x.hits, ns=x.ns) for x in found
            ]
            return Observation(unit="ns", lines=tuple(lines))
        return of_stacks(
            below_loops(memory.took(work) if self.kind == "memory" else _watched(work))
        )


def below_loops(stacks: Stacks) -> Stacks:
    """Return what was seen below torr's own loop, without what leads to it.

    Raises UsageError where there is nothing: the function did all in its own C code at once, or
    allocated nothing.
    """
    weights: dict[Stack, float] = {}
    for stack, weight in stacks.weights.items():
        at = next((at for at, name in enumerate(stack) if _FRAME.fullmatch(name)), len(stack))
        if len(stack) > at + 1:
            below = stack[at + 1 :]
            weights[below] = weights.get(below, 0) + weight
    if not weights:
        raise UsageError("the profiler saw nothing within the function")
    return Stacks(weights, stacks.unit)


def _watched(work: Callable[[], None]) -> Stacks:
    """Work until py-spy, which looks at this process from outside, has seen enough."""
    _let_anybody_look()
    seen: list[Stacks | TorrError] = []
    profiler = PySpy(os.getpid(), _HERTZ)

    def look() -> None:
        seen.append(tried(lambda: profiler.take(SECONDS)))

    thread = threading.Thread(target=look, name="torr-profile", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            work()
    finally:
        profiler.stop()
    (found,) = seen
    if isinstance(found, TorrError):
        raise found
    return found


def _let_anybody_look() -> None:
    """Allow py-spy, a child of this process, to read it; a kernel without Yama needs no leave."""
    ctypes.CDLL(None).prctl(_SET_PTRACER, _ANYBODY, 0, 0, 0)
