"""The callables behind the fixtures: they measure a function and add the result to the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

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
_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class MeasurementResult:
    """A measurement as medians of its rounds, in operations per second and milliseconds.

    A percentile is None if a round has too few operations for it. `errors` counts the exceptions
    of operations by class.
    """

    levels: Sequence[Level]
    errors: dict[str, int]

    @property
    def ops_per_s(self) -> float:
        """Return the operations per second."""
        return self.value(OK_PER_S) or 0.0

    @property
    def p50_ms(self) -> float | None:
        """Return the median time of an operation."""
        return self.value("response_ms.p50")

    @property
    def p99_ms(self) -> float | None:
        """Return the time that one operation in a hundred exceeds."""
        return self.value("response_ms.p99")

    def value(self, key: str) -> float | None:
        """Return the median over rounds of a number, given its path in a level of result.json."""
        known = [x for x in map(Metric(key).read, self.levels) if x is not None]
        return median(known) if known else None


def _without_own_frames(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a fixture's call whose UsageError has the frames of the test only."""

    @wraps(call)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        __tracebackhide__ = True
        try:
            return call(*args, **kwargs)
        except UsageError as error:
            raise error.with_traceback(None) from None

    return checked


class _Fixture:
    """The base of fixtures, for one test."""

    def __init__(self, session: MeasurementSession, item: pytest.Item) -> None:
        self._session = session
        self._item = item

    _NO_PROFILE_REASON: str | None = None
    """The reason why measurements of this fixture have no profile; None if they have one."""

    def _entry(self, name: str | None) -> FunctionMeasurement:
        entry = self._session.entry(self._item, name)
        if self._session.profiling is not None:
            entry.no_profile_reason = self._NO_PROFILE_REASON
        return entry

    def _keep(self, measured: Measurement, entry: FunctionMeasurement) -> MeasurementResult:
        entry.levels += trials(entry.candidate, entry.factors, measured)
        self._session.writer.save()
        return MeasurementResult(entry.levels, dict(measured.errors.counts))


class Measure(_Fixture):
    """Times a function in one thread."""

    @_without_own_frames
    def __call__(  # noqa: PLR0913 - the options of a user
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
    ) -> MeasurementResult:
        """Measure `rounds` rounds of `n` operations each, after one that is not counted.

        `inputs` gives the argument of each call: a function of the call's number from 0, or a
        sequence. `setup` is called before each round; its result, unless None, is the first
        argument of each call. Operations of less than 1 µs are timed in batches. Async functions
        are awaited. Exceptions of operations are counted. `lines` are the functions that
        `--torr-profile lines` profiles, by default `fn`.
        """
        require(
            gc in ("off", "on"), f"gc={gc!r}: it must be 'off' or 'on'", "gc='off' is the default"
        )
        subject = Subject(fn, inputs, setup, gc_off=gc == "off")
        count = self._session.rounds or rounds or measuring.ROUNDS
        measured = measuring.measure(subject, n, count)
        entry = self._entry(name)
        result = self._keep(measured, entry)
        if self._session.profiling is not None:
            profile = self._session.profiling.of(subject, n, measured, lines)
            self._session.profiles.append(entry.named(profile))
            self._session.writer.save()
        return result


class Stress(_Fixture):
    """Runs a function in threads that start together."""

    _NO_PROFILE_REASON = "it ran in threads, and one thread is profiled: measure it"

    @_without_own_frames
    def __call__(  # noqa: PLR0913 - the options of a user
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
    ) -> MeasurementResult:
        """Run `per_thread` operations in each of `threads` threads, for `rounds` rounds.

        One more round comes first and is not counted. There are 10 rounds, or `--torr-rounds`.
        `inputs` makes the argument of a call from the numbers of its thread and of the call.
        Threads that have not ended after `timeout` seconds fail the test, with all stacks.
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


class Leaks(_Fixture):
    """Tests whether a function leaks."""

    _NO_PROFILE_REASON = "leaks are not timed: the leak table has the lines that allocated"

    @_without_own_frames
    def __call__(
        self,
        fn: Call,
        *,
        n: int = leaking.COUNT,
        max_growth: int | None = None,
        inputs: Callable[[int], object] | None = None,
        name: str | None = None,
    ) -> LeakTable:
        """Run `n` operations; fail the test if memory keeps growing.

        With `max_growth` the test fails if the number of objects grew by more than that, and
        continuing growth alone is not a failure. Exceptions of operations are raised.
        """
        result = leaking.leaks(fn, n, inputs, max_growth)
        entry = self._entry(name)
        entry.leaks = entry.named(result)
        self._session.writer.save()
        if not result.met:
            pytest.fail(_leak_message(result), pytrace=False)
        return result


class Compare(_Fixture):
    """Measures functions in interleaved rounds."""

    _NO_PROFILE_REASON = "its rounds were interleaved with those of others: measure it by itself"

    @_without_own_frames
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
            raise UsageError(
                "compare_functions needs a name for each function", "write old=f, new=g"
            )
        subjects = {name: Subject(fn, inputs, setup) for name, fn in functions.items()}
        count = self._session.rounds or rounds or measuring.ROUNDS
        result = compare_functions(subjects, n, count)
        entries = {name: self._entry(name) for name in functions}
        for level in result.levels:
            entry = entries[level.candidate or ""]
            entry.levels.append(entry.named(level))
        for verdict in result.verdicts:
            named = entries[verdict.candidate or ""].named(verdict)
            baseline = entries[verdict.baseline or ""].candidate
            named = msgspec.structs.replace(named, baseline=baseline)
            self._session.comparison_verdicts.append(named)
        self._session.writer.save()
        return result


def _leak_message(result: LeakTable) -> str:
    """Return the message for a leak."""
    types = ", ".join(f"{count:+,} {name}" for name, count in result.types[:3] if count > 0)
    places = [f"  {size:+,} B  {place}" for place, size in result.locations]
    lines = ["allocated in:", *places] if places else []
    if result.growth > 0:
        lines.insert(0, f"types: {types}")
    if result.limit is not None:
        text = (
            f"{result.growth:,} more objects after {result.count:,} operations, more than the"
            f" {result.limit:,} that max_growth allows"
        )
        return "\n".join([text, *lines])
    text = (
        f"memory grows: each operation leaves {result.traced_per_operation or 0:,.1f} bytes of"
        f" Python's memory in {result.per_operation:.2g} blocks; the process grows by"
        f" {result.rss_per_operation or 0:,.1f} bytes an operation"
    )
    return "\n".join([text, *lines])
