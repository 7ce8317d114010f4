"""Measured functions set beside those of an earlier run, and the changes that fail a session.

--torr-compare ─ the kept run ─┬─ each function that both have ─ verdicts, one family ─ limits
what was measured now ─────────┘
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from torr.errors import UsageError, require
from torr.micro import machine
from torr.report.data.micro_names import key_of, names_of
from torr.report.text.functions import KIND
from torr.stats.metric import OK_PER_S, Metric
from torr.verdicts import across, comparison, limits
from torr.verdicts.comparison import Procedure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.change import Change
    from torr.plugin.session import MeasurementSession
    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict

_METRICS = tuple(map(Metric, ("response_ms.p50", "response_ms.p99")))
_PROCEDURE = Procedure(primary=Metric(OK_PER_S), metrics=_METRICS)
_MOST_NAMED = 3
_FUNCTION = "::function"
"""The factor that holds the function; no parameter of a test can have this name."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The kept run that --torr-compare names, and what --torr-fail-if asks for."""

    run: int
    result: RunResult
    changes: tuple[Change, ...]


BASELINE: pytest.StashKey[Baseline] = pytest.StashKey()
"""Read once, before anything runs: a run that is kept meanwhile is not this one."""


def read_baseline(config: pytest.Config) -> None:
    """Keep the baseline with pytest's configuration, if one is asked for; raises TorrError."""
    changes = tuple(_change(text) for text in config.getoption("torr_fail_if"))
    name = config.getoption("torr_compare")
    without = "--torr-fail-if is given without --torr-compare"
    require(name is not None or not changes, without, "--torr-compare NAME")
    if name is None:
        return
    from torr.store.kept.store import Filter, open_store

    with open_store() as store:
        found = store.find(Filter(name=name, kinds=(KIND,)), most=1)
        missing = f"--torr-compare {name}: there is no such kept run"
        require(bool(found), missing, "see `torr runs list`")
        config.stash[BASELINE] = Baseline(found[0].id, store.result(found[0].id), changes)


def set_beside(session: MeasurementSession) -> None:
    """Compare with the earlier run, if there is one, function by function; unpaired, and marked.

    Raises UsageError where there are limits of change and no function that both have.
    """
    baseline = session.config.stash.get(BASELINE, None)
    if baseline is None or not session.levels:
        return
    verdicts = _judged(session, baseline)
    for key in dict.fromkeys(map(_key, session.levels)):
        own = [verdict for verdict in verdicts if _key(verdict) == key]
        session.against += own
        if own:
            session.limits += [_limit(change, own) for change in baseline.changes]
    _say_what_is_missing(session, baseline)


def _judged(session: MeasurementSession, baseline: Baseline) -> list[Verdict]:
    """Verdicts over all functions at once: their chance of a false finding is one, too."""
    from torr.store.environment import environment

    sides = (f"run {baseline.run}", "now")
    now = [_as_cell(level) for level in session.levels]
    before = [_as_cell(level) for level in baseline.result.levels]

    def judge(then: Sequence[Level]) -> list[Verdict]:
        return comparison.unpaired(then, now, sides, _PROCEDURE)

    if not across.is_another(baseline.result.environment, environment()):
        found = judge(before)
    else:
        found = across.judged(before, _scales(session, baseline), judge)
    return [_of_function(verdict) for verdict in found]


def _scales(session: MeasurementSession, baseline: Baseline) -> tuple[float, float, float] | None:
    """How much faster this machine is than the baseline's, which is said."""
    factors = across.scales(baseline.result.machine_speed, machine.speed())
    if factors is not None:
        session.said.append(
            f"the earlier run is of another machine: its numbers are scaled by {factors[0]:.2f}"
            f" ({factors[1]:.2f}–{factors[2]:.2f}), how much faster this one is"
        )
    return factors


def _as_cell(level: Level) -> Level:
    """A trial whose function is a part of its setting: functions are not compared to others."""
    factors = {**level.factors, _FUNCTION: level.candidate or ""}
    return msgspec.structs.replace(level, factors=factors)


def _of_function(verdict: Verdict) -> Verdict:
    factors = dict(verdict.factors)
    candidate = str(factors.pop(_FUNCTION))
    return msgspec.structs.replace(verdict, candidate=candidate, factors=factors)


def _limit(change: Change, verdicts: Sequence[Verdict]) -> Verdict:
    """Judge a change of one function; `verdicts` are all of it, by ok/s first."""
    found = next((each for each in verdicts if each.metric == change.key), None)
    if found is not None:
        return limits.judge(change, found)
    first = verdicts[0]
    sides = (first.baseline or "", first.candidate or "")
    where = (first.concurrency or 0, first.factors)
    return limits.too_rare(change, sides, *where, is_of_function=True)


def _say_what_is_missing(session: MeasurementSession, baseline: Baseline) -> None:
    known = set(map(_key, baseline.result.levels))
    missing = {_key(level): level for level in session.levels if _key(level) not in known}
    name_of = names_of(session.levels)
    listed = [name_of(level) for level in missing.values()]
    if listed:
        session.said.append(f"not in run {baseline.run}, and beside nothing: {', '.join(listed)}")
    if baseline.changes and not session.against:
        there = sorted({level.candidate or "" for level in baseline.result.levels})
        more = ", …" if len(there) > _MOST_NAMED else ""
        raise UsageError(
            f"--torr-fail-if: nothing was compared, run {baseline.run} has none of these functions",
            f"it has {', '.join(there[:_MOST_NAMED])}{more}: run pytest with the --rootdir of then,"
            " or keep a new run with --torr-save",
        )


def _change(text: str) -> Change:
    from torr.model.change import Change

    words = text.strip()
    found = Change.parse(f"ok/s{words[3:]}" if words.startswith("ops") else words)
    known = {OK_PER_S, *(metric.key for metric in _METRICS)}
    if found.key not in known:
        raise UsageError(f"--torr-fail-if {text!r}: that is not compared", "ops, p50 or p99")
    return replace(found, text=words)  # as it was asked for


def _key(part: Level | Verdict) -> tuple[object, ...]:
    return (*key_of(part), part.concurrency)
