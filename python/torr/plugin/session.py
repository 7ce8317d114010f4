"""One pytest session: what its tests measured, how their budgets stand, what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import pytest

from torr.errors import TorrError, UsageError
from torr.micro import machine
from torr.plugin.budgets import NOT_SHOWN, budgets_of, fail_unmeasured, why_not_met
from torr.plugin.keeping import Keeping
from torr.plugin.parameters import parameters_of
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
    """What was measured under one name; `factors` are the parameters of the test, as texts.

    `unprofiled` is why there is no profile of it although profiles were asked for.
    """

    nodeid: str
    candidate: str
    factors: Factors
    levels: list[Level] = field(default_factory=list)
    budgets: list[Verdict] = field(default_factory=list)
    leaks: LeakTable | None = None
    unprofiled: str | None = None

    def named(self, part: Part) -> Part:
        """Return a part of the result under this name."""
        return msgspec.structs.replace(part, candidate=self.candidate, factors=self.factors)


class MeasurementSession:
    """Everything that was measured, in its order."""

    def __init__(self, config: pytest.Config) -> None:
        if hasattr(config, "workerinput"):
            # A fixture's error, in every test that wants to measure.
            raise UsageError(
                "torr does not measure in a worker of pytest-xdist: the others would be measured",
                "run these tests with -p no:xdist or -n 0",
            )
        self.config = config
        self.started = datetime.now(timezone.utc)
        self.entries: list[FunctionMeasurement] = []
        self.compared: list[Verdict] = []
        self.against: list[Verdict] = []
        self.limits: list[Verdict] = []
        self.said: list[str] = []
        self.profiles: list[Profile] = []
        self.profiling = _profiling(config.getoption("torr_profile"))
        self.rounds: int | None = config.getoption("torr_rounds")
        self.fails = config.getoption("torr_budgets") == "fail"
        self.allows_not_shown: bool = config.getoption("torr_allow_not_shown")
        self.keeping = Keeping(self)

    @property
    def levels(self) -> list[Level]:
        """Every round of every function."""
        return [level for entry in self.entries for level in entry.levels]

    def entry(self, item: pytest.Item, name: str | None) -> FunctionMeasurement:
        """Return a new entry of a test; of several in one test each but the first is numbered."""
        path, _, _ = item.nodeid.partition("[")
        base = path if name is None else f"{path}::{name}"
        same = sum(
            e.nodeid == item.nodeid and e.candidate.split(" #")[0] == base for e in self.entries
        )
        own = base if not same else f"{base} #{same + 1}"
        made = FunctionMeasurement(item.nodeid, own, parameters_of(item))
        self.entries.append(made)
        return made

    def judge(self, item: pytest.Item) -> None:
        """Judge a test's budgets; fail it where one is broken, or not shown."""
        budgets = budgets_of(item)
        if not budgets:
            return
        own = [e for e in self.entries if e.nodeid == item.nodeid and e.levels]
        if not own:
            fail_unmeasured()
        for entry in own:
            entry.budgets = [budget.judge(entry.levels, machine.speed()) for budget in budgets]
        why = why_not_met(
            [verdict for entry in own for verdict in entry.budgets], self.allows_not_shown
        )
        if why is not None and self.fails:
            pytest.fail(why, pytrace=False)

    def summarise(self, reporter: Any) -> None:  # noqa: ANN401 - pytest's terminal
        """Print what was measured."""
        from torr.plugin.summary import write

        write(self, reporter)

    def finish(self, session: pytest.Session) -> None:
        """Set it beside an earlier run and keep it; what cannot be is said, and ends with 4."""
        from torr.plugin.beside import set_beside

        is_cut = session.exitstatus in _CUT_SHORT
        try:
            self._end(session, lambda: set_beside(self))
        finally:
            # Whatever became of the comparison: what was measured is kept.
            self._end(session, lambda: self.keeping.close("interrupted" if is_cut else "complete"))
        self._fail_by_limits(session, is_cut=is_cut)

    def _fail_by_limits(self, session: pytest.Session, *, is_cut: bool) -> None:
        words = {limit.word for limit in self.limits}
        if "not shown" in words and not self.allows_not_shown:
            self.said.append(f"--torr-fail-if: a limit cannot be told: {NOT_SHOWN}")
        if fails(words, allows_not_shown=self.allows_not_shown) and not is_cut:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _end(self, session: pytest.Session, step: Callable[[], None]) -> None:
        try:
            step()
        except TorrError as error:
            self.said.append(f"torr: {error}")
            if session.exitstatus not in _CUT_SHORT:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR


def _profiling(kind: ProfileKind | None) -> Profiling | None:
    if kind is None:
        return None
    from torr.micro.profiling import Profiling

    return Profiling(kind)
