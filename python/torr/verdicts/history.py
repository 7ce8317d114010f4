"""The tuning ledger: the runs of a session, each compared with earlier ones.

    run ─ the trials of one level that claim something ─ medians ─ change to the one before
                                                                 ├ change to the best so far
                                                                 └ change to a baseline

A change has a verdict where both runs have trials, by the same procedure as two runs of a diff;
else it has only a ratio. Each change is judged by itself: of twenty changes without an effect, one
is expected to be found by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from torr.messages.message import Message, message
from torr.results.history import LedgerEntry, RunChange
from torr.stats.metric import OK_PER_S, Metric, primary_of
from torr.stats.series import Series, noun_of, place_of
from torr.stats.trials import Cell
from torr.units import show_rate, show_setting
from torr.verdicts import comparison
from torr.verdicts.comparison import Procedure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from typing_extensions import Self

    from torr.results.level import Level
    from torr.results.position import Position
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


P95, SUCCESS_RATE = "response_ms.p95", "success_rate"


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """The trials of one run of the session, at one level, that claim something."""

    run: int
    trials: tuple[Level, ...]
    request: str | None = None
    reason: Message | None = None
    """The reason why the run claims nothing."""
    setting: str | None = None
    """Of a tuning, the setting whose trials these are."""
    claim: Verdict | None = None
    """Of a tuning, the verdict on the setting against the default."""
    is_chosen: bool = True
    """Whether it may be the best run; of a tuning, only the recommended setting may."""
    primary: str | None = None
    """The metric that was made best, if the run is one of a tuning."""

    @classmethod
    def of_tuning(cls, run: int, result: RunResult, request: str | None) -> list[Self]:
        """Read a tuning: the trials of its verdict, of the default and of each finalist.

        The best finalist is the last one. A tuning that has not come so far has none.
        """
        outcome = result.tuning
        if not outcome or not outcome.rounds:
            return []
        measured = [*([] if outcome.default is None else [outcome.default])]
        measured += reversed(outcome.measured)
        default = result.experiment.default or 0
        best = default if outcome.recommended is None else outcome.recommended
        return [
            cls(
                run,
                *_claiming(list(map(_bare, trials)), request, None),
                _name(trials),
                None if each.against_default is None or request else each.against_default,
                each.setting == best,
                None if request else result.experiment.primary,
            )
            for each in measured
            if (trials := _fresh_trials(result, each.setting, outcome.rounds))
        ]

    @classmethod
    def of(
        cls, run: int, result: RunResult, request: str | None, position: Position | None
    ) -> Self:
        """Read a result: at the level of a position, or at its best one."""
        best = Series.of(result.name, result.levels).best
        at = position if best is None or position is not None else best.position
        here = [level for level in result.levels if at is None or level.position == at]
        return cls(run, *_claiming(here, request, at))

    @property
    def metric(self) -> Metric:
        """The metric of its comparison: p99 where requests arrived at a rate, else ok/s."""
        return Metric(self.primary or primary_of(self.trials[0]).key, self.request)

    @property
    def cell(self) -> Cell:
        """The cell of its trials."""
        return Cell.of(self.trials[0])

    def median(self, key: str) -> float | None:
        """Return the median of its trials; None where no trial has a number."""
        known = self._known(key)
        return median(known) if known else None

    def is_bound(self, metric: Metric) -> bool:
        """Return whether a number of its trials is a lower bound."""
        return any(map(metric.is_lower_bound, self.trials))

    def range(self, key: str) -> list[float] | None:
        """Return the lowest and the highest number of its trials; None for a single trial."""
        known = self._known(key)
        return [min(known), max(known)] if len(known) > 1 else None

    def _known(self, key: str) -> list[float]:
        metric = Metric(key, self.request)
        return [value for value in map(metric.read, self.trials) if value is not None]

    def entry(self) -> LedgerEntry:
        """Return the entry of the ledger, without changes."""
        first = self.trials[0] if self.trials else None
        return LedgerEntry(
            run=self.run,
            setting=UNSET if self.setting is None else self.setting,
            concurrency=None if first is None else first.concurrency,
            noun=noun_of(self.trials),
            rate=None if first is None else first.rate,
            trials=len(self.trials),
            ok_per_s=self.median(OK_PER_S),
            metric=self.metric.key if self.trials else None,
            value=self.median(self.metric.key) if self.trials else None,
            value_at_least=bool(self.trials) and self.is_bound(self.metric),
            at_least=self.is_bound(Metric(OK_PER_S, self.request)),
            p95_ms=self.median(P95),
            p95_at_least=self.is_bound(Metric(P95, self.request)),
            success_rate=self.median(SUCCESS_RATE),
            ok_per_s_range=self.range(OK_PER_S),
            p95_ms_range=self.range(P95),
            reason=self.reason,
        )


def ledger(runs: Iterable[MeasuredRun], baseline: MeasuredRun | None = None) -> list[LedgerEntry]:
    """Return the entries of a session, from its runs in order.

    Each has the medians of its level (`ok_per_s`, `p95_ms`, `success_rate` in percent), the changes
    `before`, `best` and `baseline`, None where there is nothing to compare with, and `is_best`.
    A run that claims nothing has a `reason`; where none claims anything, none is the best.
    """
    entries: list[LedgerEntry] = []
    best: MeasuredRun | None = None
    best_at: int | None = None
    before: MeasuredRun | None = None
    for at, now in enumerate(runs):
        is_baseline = baseline is not None and baseline.run == now.run
        entry = structs.replace(
            now.entry(),
            before=_change(before, now) if now.claim is None else _claimed(now, now.claim),
            best=_change(best, now),
            baseline=None if is_baseline else _change(baseline, now),
        )
        entries.append(entry)
        if now.trials and now.is_chosen:
            before = now
            if best is None or _is_better(best, now):
                best, best_at = now, at
    return [structs.replace(entry, is_best=at == best_at) for at, entry in enumerate(entries)]


def _fresh_trials(result: RunResult, setting: int, rounds: int) -> list[Level]:
    """Return the fresh trials of a setting up to a round; of a repeated one, the last."""
    trials = {
        level.place: level
        for level in result.levels
        if level.place is not UNSET
        and level.place.phase == "fresh"
        and level.place.setting == setting
        and level.place.round <= rounds
    }
    return list(trials.values())


def _name(trials: Sequence[Level]) -> str:
    return show_setting(trials[0].factors)


def _bare(trial: Level) -> Level:
    """Return a trial without its setting: all settings had the same load."""
    return structs.replace(trial, factors={})


def _claiming(
    here: Sequence[Level], request: str | None, at: Position | None
) -> tuple[tuple[Level, ...], str | None, Message | None]:
    """Return the trials that claim something, the request, and the reason where none does."""
    metric = Metric(OK_PER_S, request)
    trials = [x for x in here if not x.is_limited and metric.read(x) is not None]
    if not any(map(metric.read, trials)):  # a rate of 0 has no ratio to others
        trials = []
    return tuple(trials), request, None if trials else _why_none(here, request, at)


def _why_none(here: Sequence[Level], request: str | None, concurrency: Position | None) -> Message:
    """Return why a run has no trial that claims anything."""
    if not here:
        return _why_no_level(concurrency)
    if all(level.is_limited for level in here):
        return message("history.generator_limit", "the generator was the limit")
    if all(level.cut_short for level in here):
        return message("history.cut_short", "its window was cut short")
    if all(level.is_starved for level in here):
        return message("history.starved", "users got no response in the window")
    if any(Metric(OK_PER_S, request).read(level) == 0 for level in here):
        return message("history.no_success", "no request succeeded")
    return (
        message("history.nothing_attempted", "nothing was attempted")
        if request is None
        else message("history.no_request", "it has no request {name!r}", name=request)
    )


def _why_no_level(concurrency: Position | None) -> Message:
    if concurrency is None:
        return message("history.nothing_measured", "nothing was measured")
    return message("history.no_level", "it has no level {level:,}", level=concurrency)


def _is_better(best: MeasuredRun, now: MeasuredRun) -> bool:
    old, new = best.median(now.metric.key), now.median(now.metric.key)
    if old is None or new is None:
        return old is None and new is not None
    return new > old if now.metric.more_is_better else new < old


def _change(before: MeasuredRun | None, now: MeasuredRun) -> RunChange | None:
    """Return the change to an earlier run: the ratio, and a verdict where both have trials."""
    if before is None or not (before.trials and now.trials):
        return None
    if before.run == now.run and now.claim is not None:
        return _claimed(now, now.claim)
    if before.cell == now.cell and min(len(before.trials), len(now.trials)) > 1:
        procedure = Procedure(primary=now.metric, metrics=())
        (verdict,) = comparison.unpaired(
            before.trials, now.trials, (str(before.run), str(now.run)), procedure
        )
        return RunChange(
            run=before.run,
            metric=verdict.metric,
            ratio=verdict.ratio,
            interval=verdict.interval,
            n=verdict.n,
            p=verdict.p,
            bounds=verdict.bounds,
            word=now.metric.word(verdict.word or ""),
            reason=verdict.reason,
            more_rounds=verdict.more_rounds,
        )
    old, new = before.median(now.metric.key), now.median(now.metric.key)
    return RunChange(
        run=before.run,
        metric=now.metric.key,
        ratio=new / old if old and new is not None else None,
        n=min(len(before.trials), len(now.trials)),
        bounds=[x.is_bound(now.metric) for x in (before, now)],
        reason=_why_no_verdict(before, now),
    )


def _claimed(now: MeasuredRun, claim: Verdict) -> RunChange:
    """Return the change of a setting to the default of its tuning, by the tuning's verdict."""
    return RunChange(
        run=now.run,
        metric=claim.metric,
        ratio=claim.ratio,
        interval=claim.interval,
        n=claim.n,
        p=claim.p,
        word=now.metric.word(claim.word or ""),
        reason=claim.reason,
        more_rounds=claim.more_rounds,
    )


def _why_no_verdict(before: MeasuredRun, now: MeasuredRun) -> Message:
    if before.cell != now.cell:
        return message(
            "history.another_load",
            "another load: {before}, then {now}",
            before=_load(before),
            now=_load(now),
        )
    if len(before.trials) == len(now.trials) == 1:
        return message("diff.one_run_each", "one run each")
    return message(
        "history.unequal_trials",
        "{before} and {after} trials",
        before=len(before.trials),
        after=len(now.trials),
    )


def _load(measured: MeasuredRun) -> str:
    cell = measured.cell
    if cell.rate is not None:
        return f"{show_rate(cell.rate)}/s"
    return place_of(cell.concurrency, noun_of(measured.trials))
