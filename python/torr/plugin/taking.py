"""What the fixtures are: each measures when it is called, and hands on what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import pytest

from torr.errors import UsageError, require
from torr.micro import leaking, measuring, stressing
from torr.micro.comparing import FunctionComparison, compare_functions
from torr.micro.subject import Subject
from torr.micro.trial import trials
from torr.stats.metric import OK_PER_S, Metric

if TYPE_CHECKING:
    from torr.micro.measuring import Measurement
    from torr.plugin.session import FunctionMeasurement, MeasurementSession
    from torr.results.functions import LeakTable
    from torr.results.level import Level

Call = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Found:
    """What a measurement found: medians of its rounds, in operations a second and milliseconds.

    A percentile is None where a round has too few operations for it. `errors` counts what
    operations raised, by class.
    """

    levels: Sequence[Level]
    errors: dict[str, int]

    @property
    def ops_per_s(self) -> float:
        """Operations a second."""
        return self.value(OK_PER_S) or 0.0

    @property
    def p50_ms(self) -> float | None:
        """The median time of an operation."""
        return self.value("response_ms.p50")

    @property
    def p99_ms(self) -> float | None:
        """The time that one operation in a hundred exceeds."""
        return self.value("response_ms.p99")

    def value(self, key: str) -> float | None:
        """Return the median over rounds of a number by its place in result.json."""
        known = [x for x in map(Metric(key).read, self.levels) if x is not None]
        return median(known) if known else None


class _Taking:
    """A fixture of one test."""

    def __init__(self, session: MeasurementSession, item: pytest.Item) -> None:
        self._session = session
        self._item = item

    _UNPROFILED: str | None = None
    """Why what it measures has no profile; None where it has."""

    def _entry(self, name: str | None) -> FunctionMeasurement:
        entry = self._session.entry(self._item, name)
        if self._session.profiling is not None:
            entry.unprofiled = self._UNPROFILED
        return entry

    def _keep(self, measured: Measurement, entry: FunctionMeasurement) -> Found:
        entry.levels += trials(entry.candidate, entry.factors, measured)
        self._session.keeping.go_on()
        return Found(entry.levels, dict(measured.errors.counts))


class Measure(_Taking):
    """Times a function in one thread."""

    def __call__(  # noqa: PLR0913 - what a user may say
        self,
        fn: Call,
        *,
        n: int = measuring.COUNT,
        rounds: int | None = None,
        inputs: Callable[[int], object] | Sequence[object] | None = None,
        setup: Callable[[], object] | None = None,
        gc: Literal["off", "on"] = "off",
        name: str | None = None,
        lines: Sequence[Call] = (),
    ) -> Found:
        """Measure `rounds` rounds of `n` operations each, after one that is not counted.

        `inputs` is the value that a call gets: of its number from 0, or a sequence. `setup` is
        called before each round; what it returns, if anything, comes first in each call. An
        operation of less than 1 µs is timed in batches. Async functions are awaited. What an
        operation raises is counted, and the next one goes on. `lines` are the functions whose
        lines `--torr-profile lines` looks at; without any, `fn` itself.
        """
        require(gc in ("off", "on"), f"gc={gc!r}: it is 'off' or 'on'", "gc='off' is the default")
        subject = Subject(fn, inputs, setup, gc_off=gc == "off")
        count = self._session.rounds or rounds or measuring.ROUNDS
        measured = measuring.measure(subject, n, count)
        entry = self._entry(name)
        taken = self._keep(measured, entry)
        if self._session.profiling is not None:
            profile = self._session.profiling.of(subject, n, measured, lines)
            self._session.profiles.append(entry.named(profile))
            self._session.keeping.go_on()
        return taken


class Stress(_Taking):
    """Runs a function in threads that start together."""

    _UNPROFILED = "it ran in threads, and one thread is profiled: measure it"

    def __call__(  # noqa: PLR0913 - what a user may say
        self,
        fn: Call,
        *,
        threads: int,
        per_thread: int,
        rounds: int | None = None,
        inputs: Callable[[int, int], object] | None = None,
        setup: Callable[[], object] | None = None,
        timeout: float = stressing.TIMEOUT_S,
        name: str | None = None,
    ) -> Found:
        """Run `per_thread` operations in each of `threads` threads, for `rounds` rounds.

        One round more comes first and is not counted. Rounds are 10, or `--torr-rounds`.
        `inputs` makes the value that a call gets of the numbers of its thread and of itself.
        Threads that have not ended after `timeout` seconds fail the test, with all their stacks.
        """
        subject = stressing.StressRun(fn, threads, per_thread, inputs, setup, timeout)
        count = self._session.rounds or rounds or measuring.ROUNDS
        try:
            measured = stressing.stress(subject, count)
        except stressing.HangError as error:
            if error.measured is not None:
                self._keep(error.measured, self._entry(name))
            pytest.fail(f"{error}\n\n{error.stacks}", pytrace=False)
        return self._keep(measured, self._entry(name))


class Leaks(_Taking):
    """Says what a function leaves behind."""

    _UNPROFILED = "it was watched, not timed: the lines that allocated stand with its leaks"

    def __call__(
        self,
        fn: Call,
        *,
        n: int = leaking.COUNT,
        max_growth: int | None = None,
        inputs: Callable[[int], object] | None = None,
        name: str | None = None,
    ) -> LeakTable:
        """Run `n` operations; fails where more and more is left behind.

        With `max_growth` it fails where there are more objects more than that at the end, and
        growth that goes on is no failure by itself. What an operation raises is raised.
        """
        found = leaking.leaks(fn, n, inputs, max_growth)
        entry = self._entry(name)
        entry.leaks = entry.named(found)
        self._session.keeping.go_on()
        if not found.met:
            pytest.fail(_why_leaking(found), pytrace=False)
        return found


class Compare(_Taking):
    """Measures functions in interleaved rounds."""

    _UNPROFILED = "its rounds were interleaved with those of others: measure it by itself"

    def __call__(
        self,
        *,
        n: int = measuring.COUNT,
        rounds: int | None = None,
        inputs: Callable[[int], object] | Sequence[object] | None = None,
        setup: Callable[[], object] | None = None,
        **functions: Call,
    ) -> FunctionComparison:
        """Measure functions by their names in turn, round by round; the first is the baseline."""
        if not all(map(callable, functions.values())):
            raise UsageError("compare_functions takes functions by their names", "old=f, new=g")
        subjects = {name: Subject(fn, inputs, setup) for name, fn in functions.items()}
        count = self._session.rounds or rounds or measuring.ROUNDS
        found = compare_functions(subjects, n, count)
        entries = {name: self._entry(name) for name in functions}
        for level in found.levels:
            entry = entries[level.candidate or ""]
            entry.levels.append(entry.named(level))
        for verdict in found.verdicts:
            named = entries[verdict.candidate or ""].named(verdict)
            baseline = entries[verdict.baseline or ""].candidate
            self._session.compared.append(msgspec.structs.replace(named, baseline=baseline))
        self._session.keeping.go_on()
        return found


def _why_leaking(found: LeakTable) -> str:
    """What is wrong with what was left behind."""
    types = ", ".join(f"{count:+,} {name}" for name, count in found.types[:3] if count > 0)
    places = "\n".join(f"  {size:+,} B  {place}" for place, size in found.locations)
    told = f"{types or 'no objects of the collector'}\n{places}"
    if found.limit is not None:
        after = f"after {found.count:,} operations, not {found.limit:,}"
        return f"{found.growth:+,} objects {after}: {told}"
    left = (
        f"{found.per_operation:.2g} blocks of memory, {found.traced_per_operation:,.1f} bytes of"
        f" Python's, {found.rss_per_operation:,.1f} of the process"
    )
    return f"each operation leaves {left} behind: {told}"
