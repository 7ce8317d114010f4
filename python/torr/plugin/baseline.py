"""Compare measured functions with those of an earlier run, and judge limits of change.

--torr-compare ─ the stored run ─┬─ functions that both have ─ verdicts, one family ─ limits
the measurements of this session ┘
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from torr.errors import UsageError, require
from torr.micro import machine
from torr.plugin.attempts import last_attempts
from torr.report.data.function_names import key_of, names_of
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
_MAX_NAMED = 3
_FUNCTION = "::function"
"""The factor that holds the function; no parameter of a test can have this name."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The stored run that --torr-compare names, and the limits of --torr-fail-if."""

    run: int
    result: RunResult
    changes: tuple[Change, ...]


BASELINE: pytest.StashKey[Baseline] = pytest.StashKey()
"""Read once before any test runs, so that a run which is stored meanwhile is not used."""


def read_baseline(config: pytest.Config) -> None:
    """Store the baseline, if an option names one, in pytest's configuration; raise TorrError."""
    changes = tuple(_change(text) for text in config.getoption("torr_fail_if"))
    name = config.getoption("torr_compare")
    without = "--torr-fail-if is given without --torr-compare"
    require(name is not None or not changes, without, "--torr-compare NAME")
    if name is None:
        return
    from torr.store.runs.store import Filter, open_store

    with open_store() as store:
        newest = store.find(Filter(name=name, kinds=(KIND,)), most=1)
        missing = f"--torr-compare {name}: no stored run has this name"
        require(bool(newest), missing, "see `torr runs list`")
        config.stash[BASELINE] = Baseline(newest[0].id, store.result(newest[0].id), changes)


def compare_with_baseline(session: MeasurementSession) -> None:
    """Compare each function with that of the earlier run, if there is one; rounds are unpaired.

    Raises UsageError if there are limits of change, but no function that both runs have.
    """
    baseline = session.config.stash.get(BASELINE, None)
    if baseline is None:
        return
    if not session.levels:
        require(
            not baseline.changes,
            "--torr-fail-if: nothing was compared, no function was measured",
            "select tests that use the fixture `measure`",
        )
        return
    attempts = last_attempts(session.last_levels)
    now = [level for level, _ in attempts]
    before = [level for level, _ in last_attempts(baseline.result.levels)]
    verdicts = _judged(session, baseline, before, now)
    names = {_key(level): name for level, name in attempts}
    for key, name in names.items():
        own = [
            msgspec.structs.replace(verdict, candidate=name)
            for verdict in verdicts
            if _key(verdict) == key
        ]
        session.baseline_verdicts += own
        if own:
            session.limits += [_limit(change, own) for change in baseline.changes]
    _note_missing(session, baseline, before, now)


def _judged(
    session: MeasurementSession,
    baseline: Baseline,
    levels_before: Sequence[Level],
    levels_now: Sequence[Level],
) -> list[Verdict]:
    """Return the verdicts of all functions, which are corrected as one family."""
    from torr.store.environment import environment

    sides = (f"run {baseline.run}", "now")
    now = [_as_cell(level) for level in levels_now]
    before = [_as_cell(level) for level in levels_before]

    def judge(then: Sequence[Level]) -> list[Verdict]:
        return comparison.unpaired(then, now, sides, _PROCEDURE)

    if not across.is_another(baseline.result.environment, environment()):
        verdicts = judge(before)
    else:
        verdicts = across.judged(before, _scales(session, baseline), judge)
    return [_of_function(verdict) for verdict in verdicts]


def _scales(session: MeasurementSession, baseline: Baseline) -> tuple[float, float, float] | None:
    """Return how much faster this machine is than the baseline's, and note it."""
    factors = across.scales(baseline.result.machine_speed, machine.speed())
    if factors is not None:
        session.notes.append(
            f"the earlier run is from another machine: its numbers are scaled by {factors[0]:.2f}"
            f" ({factors[1]:.2f}–{factors[2]:.2f}), how much faster this one is"
        )
    return factors


def _as_cell(level: Level) -> Level:
    """Return a trial with its function as a factor, so that it is not compared with others."""
    factors = {**level.factors, _FUNCTION: level.candidate or ""}
    return msgspec.structs.replace(level, factors=factors)


def _of_function(verdict: Verdict) -> Verdict:
    factors = dict(verdict.factors)
    candidate = str(factors.pop(_FUNCTION))
    return msgspec.structs.replace(verdict, candidate=candidate, factors=factors)


def _limit(change: Change, verdicts: Sequence[Verdict]) -> Verdict:
    """Judge a change of one function; `verdicts` are all of it, by ok/s first."""
    verdict = next((verdict for verdict in verdicts if verdict.metric == change.key), None)
    if verdict is not None:
        return limits.judge(change, verdict)
    first = verdicts[0]
    sides = (first.baseline or "", first.candidate or "")
    where = (first.concurrency or 0, first.factors)
    return limits.too_rare(change, sides, *where, is_of_function=True)


def _note_missing(
    session: MeasurementSession,
    baseline: Baseline,
    before: Sequence[Level],
    now: Sequence[Level],
) -> None:
    known = set(map(_key, before))
    missing = {_key(level): level for level in now if _key(level) not in known}
    name_of = names_of(now)
    listed = [name_of(level) for level in missing.values()]
    if listed:
        session.notes.append(
            f"not compared, since run {baseline.run} does not have them: {', '.join(listed)}"
        )
    measured = set(map(_key, now))
    gone = {_key(level): level for level in before if _key(level) not in measured}
    if gone:
        name_of = names_of(before)
        names = list(dict.fromkeys(map(name_of, gone.values())))
        more = ", …" if len(names) > _MAX_NAMED else ""
        session.notes.append(
            f"not measured now, only in run {baseline.run}: {', '.join(names[:_MAX_NAMED])}{more}"
        )
    if baseline.changes and not session.baseline_verdicts:
        there = sorted({level.candidate or "" for level in before})
        more = ", …" if len(there) > _MAX_NAMED else ""
        raise UsageError(
            f"--torr-fail-if: nothing was compared, run {baseline.run} has none of these functions",
            f"it has {', '.join(there[:_MAX_NAMED])}{more}: run pytest with the --rootdir of that"
            " run, or keep a new run with --torr-save",
        )


def _change(text: str) -> Change:
    from torr.model.change import Change

    words = text.strip()
    change = Change.parse(f"ok/s{words[3:]}" if words.startswith("ops") else words)
    if change.key not in {OK_PER_S, *(metric.key for metric in _METRICS)}:
        raise UsageError(
            f"--torr-fail-if {text!r}: torr does not compare this metric", "write ops, p50 or p99"
        )
    return replace(change, text=words)  # as the user wrote it


def _key(part: Level | Verdict) -> tuple[object, ...]:
    return (*key_of(part), part.concurrency)
