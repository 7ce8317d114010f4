"""One pytest session: the measurements of its tests, their budgets, and the run they form."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import pytest

from torr.errors import TorrError, UsageError
from torr.micro import machine
from torr.plugin.attempts import name_of_attempt
from torr.plugin.budgets import NOT_SHOWN, budgets_of, fail_unmeasured, failure_text
from torr.plugin.parameters import parameters_of
from torr.plugin.run_writer import RunWriter
from torr.verdicts.exit import fails

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.micro.profiling import Profiling
    from torr.results.base import Factors, ResultPart
    from torr.results.functions import LeakTable
    from torr.results.level import Level
    from torr.results.profile import Profile, ProfileKind
    from torr.results.verdict import Verdict

Part = TypeVar("Part", bound="ResultPart")

_CUT_SHORT = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)


@dataclass(slots=True)
class FunctionMeasurement:
    """A measurement under one name; `factors` are the parameters of the test, as texts.

    `candidate` tells it from others of the same name: it has a number, and that of its attempt.
    `no_profile_reason` is set if there is no profile although profiles were requested.
    """

    nodeid: str
    name: str
    candidate: str
    factors: Factors
    attempt: int = 1
    levels: list[Level] = field(default_factory=list)
    budgets: list[Verdict] = field(default_factory=list)
    leaks: LeakTable | None = None
    no_profile_reason: str | None = None

    def named(self, part: Part) -> Part:
        """Return a copy of a part of the result, with this name and these factors."""
        return msgspec.structs.replace(part, candidate=self.candidate, factors=self.factors)


class MeasurementSession:
    """All measurements of a session, in their order."""

    def __init__(self, config: pytest.Config) -> None:
        if hasattr(config, "workerinput"):
            # An error of the fixture, in every test that uses one.
            raise UsageError(
                "torr does not measure in a worker of pytest-xdist, since others would disturb it",
                "run these tests with -p no:xdist or -n 0",
            )
        self.config = config
        self.started = datetime.now(timezone.utc)
        self.entries: list[FunctionMeasurement] = []
        self.comparison_verdicts: list[Verdict] = []
        self.baseline_verdicts: list[Verdict] = []
        self.limits: list[Verdict] = []
        self.notes: list[str] = []
        self.profiles: list[Profile] = []
        self.profiling = profiling(config.getoption("torr_profile"))
        self.rounds: int | None = config.getoption("torr_rounds")
        self.fail_on_budgets = config.getoption("torr_budgets") == "fail"
        self.allows_not_shown: bool = config.getoption("torr_allow_not_shown")
        self.writer = RunWriter(self)
        self._first_of_attempt = 0
        self._attempt = 1

    @property
    def levels(self) -> list[Level]:
        """Return all rounds of all functions."""
        return [level for entry in self.entries for level in entry.levels]

    @property
    def last_levels(self) -> list[Level]:
        """Return the rounds of the last attempt at each test."""
        last = {entry.nodeid: entry.attempt for entry in self.entries}
        entries = [entry for entry in self.entries if entry.attempt == last[entry.nodeid]]
        return [level for entry in entries for level in entry.levels]

    def entry(self, item: pytest.Item, name: str | None) -> FunctionMeasurement:
        """Add an entry of a test and return it; further entries of the same name are numbered."""
        path, _, _ = item.nodeid.partition("[")
        base = path if name is None else f"{path}::{name}"
        attempt = self.entries[self._first_of_attempt :]
        same = sum(entry.nodeid == item.nodeid and entry.name == base for entry in attempt)
        numbered = base if not same else f"{base} #{same + 1}"
        candidate = name_of_attempt(numbered, self._attempt)
        parameters = parameters_of(item)
        entry = FunctionMeasurement(item.nodeid, base, candidate, parameters, self._attempt)
        self.entries.append(entry)
        return entry

    def begin(self, item: pytest.Item) -> None:
        """Begin a test; if it is run again, the verdicts of its earlier attempts are void."""
        self._first_of_attempt = len(self.entries)
        earlier = [entry for entry in self.entries if entry.nodeid == item.nodeid]
        self._attempt = 1 + max((entry.attempt for entry in earlier), default=0)
        for entry in earlier:
            entry.budgets = []

    def judge(self, item: pytest.Item) -> None:
        """Judge a test's budgets; fail it if one is broken or not shown."""
        budgets = budgets_of(item)
        if not budgets:
            return
        attempt = self.entries[self._first_of_attempt :]
        own = [e for e in attempt if e.nodeid == item.nodeid and e.levels]
        if not own:
            fail_unmeasured()
        for entry in own:
            entry.budgets = [budget.judge(entry.levels, machine.speed()) for budget in budgets]
        failure = failure_text(
            [verdict for entry in own for verdict in entry.budgets], self.allows_not_shown
        )
        if failure is not None and self.fail_on_budgets:
            pytest.fail(failure, pytrace=False)

    def summarise(self, reporter: Any) -> None:  # noqa: ANN401 - pytest's terminal
        """Print the measurements."""
        from torr.plugin.summary import write

        write(self, reporter)

    def finish(self, session: pytest.Session) -> None:
        """Compare with an earlier run and write the run; errors are noted and end with code 4."""
        from torr.plugin.baseline import compare_with_baseline

        is_cut = session.exitstatus in _CUT_SHORT
        try:
            self._end(session, lambda: compare_with_baseline(self))
        finally:
            # The measurements are written even if the comparison fails.
            self._end(session, lambda: self.writer.close("interrupted" if is_cut else "complete"))
        self._fail_by_limits(session, is_cut=is_cut)

    def _fail_by_limits(self, session: pytest.Session, *, is_cut: bool) -> None:
        words = {limit.word for limit in self.limits}
        if "not shown" in words and not self.allows_not_shown:
            self.notes.append(f"--torr-fail-if: a limit is not shown: {NOT_SHOWN}")
        if fails(words, allows_not_shown=self.allows_not_shown) and not is_cut:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _end(self, session: pytest.Session, step: Callable[[], None]) -> None:
        try:
            step()
        except TorrError as error:
            self.notes.append(f"torr: {error}")
            if session.exitstatus not in _CUT_SHORT:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR


def profiling(kind: ProfileKind | None) -> Profiling | None:
    """Return the profiler of a kind, if any; raise UsageError if it is missing."""
    if kind is None:
        return None
    from torr.micro.profiling import Profiling

    return Profiling(kind)
