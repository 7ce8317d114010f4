"""What `torr diff` says of two sides: ratios, verdicts where there are trials, and its limits.

Trials of one interleaved run are paired by round. Those of two runs are not: their verdicts are
marked, since drift between the runs is not excluded. A level with one trial a side keeps its ratio.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from torr.errors import UsageError
from torr.report.data import diff
from torr.report.data.side import Side, renamed
from torr.stats.metric import ERROR_RATE, METRICS, Metric
from torr.verdicts import comparison, limits
from torr.verdicts.comparison import Procedure
from torr.verdicts.judgement import LEAST_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.change import Change
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict

_OF_SERIES = ("service_ms.mean", "response_ms.p95", "success_rate")
PROCEDURE = Procedure(
    # Success says what errors would, and a .dat has it.
    metrics=(*(m for m in METRICS if m.key != ERROR_RATE), *map(Metric, _OF_SERIES))
)


def set_beside(a: Side, b: Side, changes: Sequence[Change] = ()) -> RunResult:
    """Return the diff of `b` against its baseline `a`, made now and by no command.

    `fail_if` has an entry for each of `changes` at each common level, `profiles` those of both
    sides under their names. Raises UsageError when no level is in common, or when a change cannot
    be told anywhere for want of trials.
    """
    found = diff.compare(a.series, b.series)
    first, second = (series.name for series in found.series)
    a, b = renamed(a, first), renamed(b, second)
    entries = [entry for change in changes for entry in _limits(a, b, change)]
    known = {(v.concurrency, v.metric): v for v in (*found.verdicts, *judged(a, b))}
    return msgspec.structs.replace(
        found,
        verdicts=sorted(known.values(), key=lambda verdict: verdict.concurrency or 0),
        fail_if=entries,
        profiles=[*a.profiles, *b.profiles],
    )


def judged(a: Side, b: Side, procedure: Procedure = PROCEDURE) -> list[Verdict]:
    """Return the verdicts that the trials of both sides carry: at least two trials each.

    They are no surer than those of the comparison that made the trials, and leave the rounds out
    that it did.
    """
    if not a.trials or not b.trials:
        return []
    procedure = replace(procedure, alpha=min(procedure.alpha, a.alpha, b.alpha))
    if a.is_interleaved_with(b):
        as_there = replace(procedure, rule=a.rule)
        found = comparison.verdicts([*a.trials, *b.trials], a.name, as_there)
    else:
        found = comparison.unpaired(a.trials, b.trials, (a.name, b.name), procedure)
    return [verdict for verdict in found if min(map(len, verdict.trials or ()), default=0) > 1]


def _limits(a: Side, b: Side, change: Change) -> list[Verdict]:
    """A limit at every common level; an error where no level has the trials to tell it."""
    metric = Metric(change.key, change.name)
    found = judged(a, b, replace(PROCEDURE, primary=metric, metrics=()))
    entries = [limits.judge(change, verdict) for verdict in found]
    if any((entry.n or 0) >= LEAST_ROUNDS for entry in entries):
        return entries
    rare = [] if entries else _too_rare(a, b, change)
    if rare:
        return rare
    why = entries[0].reason if entries else _why_no_trials(a, b, metric)
    raise UsageError(
        f"--fail-if {change.text!r} needs trials: {why}",
        f"run both sides with --rounds {LEAST_ROUNDS} or more",
    )


def _too_rare(a: Side, b: Side, change: Change) -> list[Verdict]:
    """The limit at each common level, where answers are too few for its percentile: not shown."""
    kind, _, stat = change.key.partition(".")
    mean = Metric(f"{kind}.mean", change.name)
    if not (stat.startswith("p") and mean.is_time):
        return []
    counts = [
        Counter(x.concurrency for x in side.trials if mean.read(x) is not None) for side in (a, b)
    ]
    return [
        limits.too_rare(change, (a.name, b.name), users)
        for users in sorted(counts[0].keys() & counts[1].keys())
        if min(count[users] for count in counts) >= LEAST_ROUNDS
    ]


def _why_no_trials(a: Side, b: Side, metric: Metric) -> str:
    without = [side.name for side in (a, b) if not side.trials]
    if without:
        return f"{' and '.join(without)} has medians only"
    counts = [sum(metric.read(x) is not None for x in side.trials) for side in (a, b)]
    if 0 in counts:
        return f"no trial of {(a, b)[counts.index(0)].name} has a number of {metric.label}"
    return "no level that both have was measured more than once on each side"
