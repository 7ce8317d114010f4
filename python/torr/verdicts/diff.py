"""What `torr diff` says of two sides: ratios, verdicts where there are trials, and its limits.

One run a side has no verdict: how much a server differs from run to run was not seen. So there are
ratios, spreads, and the words "one run each". Trials of one interleaved run are paired by round.
Those of two runs are not: their verdicts are marked, since drift between the runs is not excluded.
Where client and target shared a machine a rate is a lower bound, and so the ratio is bounded on one
side, or, with two such rates, on none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import msgspec

from torr import __version__
from torr.errors import UsageError, require
from torr.messages.message import Message, message, message_list
from torr.messages.say import say
from torr.model.moment import stamp
from torr.results.position import ARRIVAL
from torr.results.result import SCHEMA, RunResult
from torr.results.series import LevelPoint, LevelSeries
from torr.results.verdict import Verdict
from torr.stats.metric import ERROR_RATE, METRICS, OF_ALL_STREAMS, OF_STREAMS, Metric
from torr.stats.series import noun_of_points
from torr.verdicts import comparison, limits
from torr.verdicts.comparison import Procedure
from torr.verdicts.diff_side import Side, renamed
from torr.verdicts.judgement import LEAST_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.model.change import Change
    from torr.results.level import Level
    from torr.results.position import Position
    from torr.stats.series import Series

_OF_SERIES = ("service_ms.mean", "response_ms.p95", "success_rate")
PROCEDURE = Procedure(
    # Success says what errors would, and a .dat has it.
    metrics=(*(m for m in METRICS if m.key != ERROR_RATE), *OF_STREAMS, *map(Metric, _OF_SERIES))
)


def _of_stream(label: str) -> Callable[[LevelPoint], float | None]:
    return lambda point: point.stream_values.get(label)


_METRICS: dict[str, Callable[[LevelPoint], float | None]] = {
    "ok_per_s": lambda point: point.ok_per_s,
    "service_ms.mean": lambda point: point.service_ms,
    "response_ms.p95": lambda point: point.p95_ms,
    "success_rate": lambda point: point.success_rate,
    **{metric.key: _of_stream(metric.label) for metric in (*OF_STREAMS, *OF_ALL_STREAMS)},
}


def diff(a: Side, b: Side, changes: Sequence[Change] = ()) -> RunResult:
    """Return the diff of `b` against its baseline `a`, made now and by no command.

    `fail_if` has an entry for each of `changes` at each common level, `profiles` those of both
    sides under their names. Raises UsageError when no level is in common, or when a change cannot
    be told anywhere for want of trials.
    """
    found = ratios(a.series, b.series)
    first, second = (series.name for series in found.series)
    a, b = renamed(a, first), renamed(b, second)
    entries = [entry for change in changes for entry in _limits(a, b, change)]
    of_trials = filter(_has_trials, _trial_verdicts(a, b))
    known = {(v.position, v.metric): v for v in (*found.verdicts, *of_trials)}
    return msgspec.structs.replace(
        found,
        verdicts=sorted(known.values(), key=lambda verdict: verdict.position),
        fail_if=entries,
        profiles=[*a.profiles, *b.profiles],
    )


def _trial_verdicts(a: Side, b: Side, procedure: Procedure = PROCEDURE) -> list[Verdict]:
    """Return the verdicts of the trials of both sides.

    They are no surer than those of the comparison that made the trials, and leave the rounds out
    that it did.
    """
    if not a.trials or not b.trials:
        return []
    procedure = replace(procedure, alpha=min(procedure.alpha, a.alpha, b.alpha))
    if a.is_interleaved_with(b):
        as_there = replace(procedure, rule=a.rule, discarded=a.discarded)
        found = comparison.verdicts([*a.trials, *b.trials], a.name, as_there)
    else:
        found = comparison.unpaired(a.trials, b.trials, (a.name, b.name), procedure)
    if noun_of_points(a.series.points) == ARRIVAL:
        return found
    # A load of users and arrivals lies at its users.
    return [msgspec.structs.replace(verdict, rate=None) for verdict in found]


def _has_trials(verdict: Verdict) -> bool:
    """Whether there are at least two trials of each side."""
    return min(map(len, verdict.trials or ()), default=0) > 1


def _limits(a: Side, b: Side, change: Change) -> list[Verdict]:
    """A limit at every common level; an error where no level has the trials to tell it."""
    metric = Metric(change.key, change.name)
    verdicts = _trial_verdicts(a, b, replace(PROCEDURE, primary=metric, metrics=()))
    every = {verdict.position: limits.judge(change, verdict) for verdict in verdicts}
    rare = {entry.position: entry for entry in _too_rare(a, b, change)}
    told = {verdict.position for verdict in verdicts if _has_trials(verdict)}
    shown = {**every, **{at: entry for at, entry in rare.items() if at not in told}}
    if any((every[at].n or 0) >= LEAST_ROUNDS for at in told) or (rare and not told):
        return [entry for _, entry in sorted(shown.items())]
    entries = [every[at] for at in sorted(told)]
    why = entries[0].reason if entries else _why_no_trials(a, b, metric)
    raise UsageError(
        say("--fail-if {text!r} needs trials: {why}", text=change.text, why=why),
        say("run both sides with --rounds {least_rounds} or more", least_rounds=LEAST_ROUNDS),
    )


def _too_rare(a: Side, b: Side, change: Change) -> list[Verdict]:
    """The limit at each common level, where answers are too few for its percentile: not shown."""
    kind, _, stat = change.key.partition(".")
    mean = Metric(f"{kind}.mean", change.name)
    if not (stat.startswith("p") and mean.is_time):
        return []
    known = [[x for x in side.trials if mean.read(x) is not None] for side in (a, b)]
    counts = [Counter(trial.position for trial in trials) for trials in known]
    trial_at = {trial.position: trial for trial in known[1]}
    return [
        _too_rare_at(trial_at[position], change, (a.name, b.name))
        for position in sorted(counts[0].keys() & counts[1].keys())
        if min(count[position] for count in counts) >= LEAST_ROUNDS
    ]


def _too_rare_at(trial: Level, change: Change, names: tuple[str, str]) -> Verdict:
    entry = limits.too_rare(change, names, trial.concurrency)
    return msgspec.structs.replace(entry, rate=trial.offered_rate)


def _why_no_trials(a: Side, b: Side, metric: Metric) -> str:
    without = [side.name for side in (a, b) if not side.trials]
    if without:
        return f"{' and '.join(without)} has medians only"
    counts = [sum(metric.read(x) is not None for x in side.trials) for side in (a, b)]
    if 0 in counts:
        return f"no trial of {(a, b)[counts.index(0)].name} has a number of {metric.label}"
    return "no level that both have was measured more than once on each side"


def ratios(a: Series, b: Series) -> RunResult:
    """Return the diff of `b` against its baseline `a`, made now and by no command.

    `series` holds both sides, `verdicts` one ratio (b/a; success as a difference in points) a
    common level and metric. Raises UsageError when no level is in common.
    """
    nouns = [noun_of_points(series.points) for series in (a, b)]
    require(
        nouns[0] == nouns[1],
        say(
            "{name} and {name_2} cannot be compared: levels of one are rates, those of the other"
            " are numbers of users",
            name=a.name,
            name_2=b.name,
        ),
        say("measure both with --rates, or both with --levels"),
    )
    common = [point.position for point in a.points if b.at(point.position)]
    if not common:
        raise UsageError(
            say(
                "{name} and {name_2} have no level in common: {a} against {b}",
                name=a.name,
                name_2=b.name,
                a=_levels(a),
                b=_levels(b),
            ),
            say("measure both with the same --levels or --rates of a ladder, or -c of a run"),
        )
    name = f"{a.name}_{b.name}"
    if a.name == b.name:
        a, b = replace(a, name=f"{a.name} (A)"), replace(b, name=f"{b.name} (B)")
    verdicts = (_verdict(a, b, level, metric) for level in common for metric in _METRICS)
    have_streams = all(any(p.stream_values for p in side.points) for side in (a, b))
    return RunResult(
        schema_=SCHEMA,
        torr=__version__,
        kind="diff",
        name=name,
        started=stamp(datetime.now(timezone.utc)),
        status="complete",
        series=[_as_stored(series, with_streams=have_streams) for series in (a, b)],
        verdicts=[verdict for verdict in verdicts if verdict is not None],
    )


def _as_stored(series: Series, *, with_streams: bool) -> LevelSeries:
    points = list(series.points)
    if not with_streams:
        points = [msgspec.structs.replace(point, stream=msgspec.UNSET) for point in points]
    return LevelSeries(name=series.name, points=points)


def _is_bound(point: LevelPoint, metric: str) -> bool:
    """Whether a number of a level is a lower bound."""
    if metric == "response_ms.p95":
        return point.p95_at_least
    return Metric(metric).is_rate and point.at_least


def _verdict(a: Series, b: Series, position: Position, metric: str) -> Verdict | None:
    old, new = a.at(position), b.at(position)
    if old is None or new is None:
        return None
    before, after = _METRICS[metric](old), _METRICS[metric](new)
    if before is None or after is None:
        return None
    is_share = metric == "success_rate"
    return Verdict(
        candidate=b.name,
        baseline=a.name,
        concurrency=new.concurrency,
        rate=None if new.rate is msgspec.UNSET else new.rate,
        metric=metric,
        value=after,
        baseline_value=before,
        ratio=None if is_share or before == 0 else after / before,
        difference=after - before if is_share else None,
        spreads=[old.spread, new.spread],
        bounds=[_is_bound(point, metric) for point in (old, new)],
        n=min(old.rounds, new.rounds),
        reason=_reason(old, new),
    )


def _reason(old: LevelPoint, new: LevelPoint) -> Message:
    rounds = message(
        "diff.not_interleaved",
        "{before} and {after} rounds, not interleaved",
        before=old.rounds,
        after=new.rounds,
    )
    if old.rounds == new.rounds == 1:
        rounds = message("diff.one_run_each", "one run each")
    if not (old.at_least or new.at_least):
        return rounds
    shared = message("diff.shared_machine", "a machine was shared by client and target")
    return message_list("; ", [rounds, shared])


def _levels(series: Series) -> str:
    return ", ".join(f"{point.position}" for point in series.points)
