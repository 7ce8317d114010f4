"""Profile the time or memory of a function in extra rounds after the measured ones.

These rounds count only for the cost of the profiler.
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
from torr.messages.message import message
from torr.micro import loops
from torr.micro.errors import ErrorCounts
from torr.micro.measuring import run_round
from torr.profile import lines as line_profiler
from torr.profile import memory
from torr.profile.observation import Observation, capture_errors, cost_rate, stacks_observation
from torr.profile.pyspy import PySpy
from torr.profile.stacks import Stack, Stacks
from torr.results.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.micro.measuring import Measurement, Round
    from torr.micro.subject import Subject
    from torr.results.profile import ProfileKind

SECONDS = 2
"""How long py-spy samples."""

_HERTZ = 500
# A kernel with Yama lets only parents trace a process, unless the process allows it: prctl(2).
_PR_SET_PTRACER, _PR_SET_PTRACER_ANY = 0x59616D61, ctypes.c_ulong(-1)
_LOOPS = "|".join(
    loop.__name__
    for loop in (
        *(loops.single, loops.single_with_input, loops.batched, loops.batched_with_inputs),
        loops.awaited,
    )
)
_FRAME = re.compile(rf"(?:{_LOOPS}) \((?:.*/)?loops\.py:\d+\)")


class Profiling:
    """Takes profiles of one kind, each of one function in rounds like the measured ones."""

    def __init__(self, kind: ProfileKind) -> None:
        """Choose the profiler; raise UsageError if it is missing."""
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
        """Return a profile; `functions` are those whose lines are profiled."""
        rounds: list[Round] = []
        errors = ErrorCounts()

        def work() -> None:
            rounds.append(run_round(subject, count, measured.batch, measured.overhead, errors))

        began = time.perf_counter()
        try:
            observed = self._observe(work, functions or (subject.call,))
        except TorrError as error:
            observed = Observation.of_error(error)
        rate = median(round_.ok_per_s for round_ in rounds) if rounds else None
        return Profile(
            kind=self.kind,
            tool=self.tool,
            concurrency=1,
            seconds=max(1, round(time.perf_counter() - began)),
            ok_per_s=rate,
            cost_rate=cost_rate(rate, [round_.ok_per_s for round_ in measured.rounds]),
            unit=observed.unit,
            folded=observed.folded,
            lines=list(observed.lines),
            failure=observed.failure,
            hint=observed.hint,
        )

    def _observe(
        self, work: Callable[[], None], functions: Sequence[Callable[..., object]]
    ) -> Observation:
        if self.kind == "lines":
            lines = line_profiler.profile_lines(work, functions)
            return Observation(unit="ns", lines=tuple(lines))
        return stacks_observation(
            below_loops(memory.profile_memory(work) if self.kind == "memory" else _sampled(work))
        )


def below_loops(stacks: Stacks) -> Stacks:
    """Return the stacks below torr's own loop, without the frames above it.

    Raises UsageError if there are none: the function ran in C code only, or allocated nothing.
    """
    weights: dict[Stack, float] = {}
    for stack, weight in stacks.weights.items():
        at = next((at for at, name in enumerate(stack) if _FRAME.fullmatch(name)), len(stack))
        if len(stack) > at + 1:
            below = stack[at + 1 :]
            weights[below] = weights.get(below, 0) + weight
    if not weights:
        raise UsageError(
            message("profile.empty_function", "the profiler saw nothing within the function")
        )
    return Stacks(weights, stacks.unit)


def _sampled(work: Callable[[], None]) -> Stacks:
    """Repeat the work while py-spy samples this process; return its stacks."""
    # py-spy is a child of this process. A kernel without Yama needs no permission.
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _PR_SET_PTRACER_ANY, 0, 0, 0)
    results: list[Stacks | TorrError] = []
    profiler = PySpy(os.getpid(), _HERTZ)

    def sample() -> None:
        results.append(capture_errors(lambda: profiler.take(SECONDS)))

    thread = threading.Thread(target=sample, name="torr-profile", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            work()
    finally:
        profiler.stop()
    (result,) = results
    if isinstance(result, TorrError):
        raise result
    return result
