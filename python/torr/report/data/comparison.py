"""A comparison's result put in order: its cells, and each candidate's trials and verdicts there.

    Comparison ─ ComparisonCell ─ CandidateCell (one candidate in it): trials, failures, verdicts

Whatever is missing, as of a run that was interrupted, is empty: everything can still be drawn.
Nothing is judged here. Where trials forbid a verdict the standing says so, whatever the word is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

import msgspec

from torr.messages.message import Message
from torr.messages.say import say
from torr.report.data import cell_names
from torr.results.base import factors_key
from torr.results.position import Position, position_of
from torr.results.verdict import Verdict
from torr.stats import trials
from torr.stats.metric import OK_PER_S, Metric, primary_of
from torr.stats.series import noun_of
from torr.stats.trials import Cell, Rounds

if TYPE_CHECKING:
    from typing_extensions import Self

    from torr.results.base import Factors
    from torr.results.experiment import Experiment
    from torr.results.level import Level
    from torr.results.result import RunResult, TrialFailure


@dataclass(frozen=True)
class CandidateCell:
    """One candidate in one cell.

    `trials` are by round; `verdicts` by their metric, none for the baseline; `discarded` are the
    rounds of the cell that a rule took out.
    """

    name: str
    trials: Mapping[int, Level] = field(default_factory=dict)
    failures: Sequence[TrialFailure] = ()
    verdicts: Mapping[Metric, Verdict] = field(default_factory=dict)
    discarded: frozenset[int] = frozenset()

    @property
    def is_limited(self) -> bool:
        """Whether the generator was the limit in one of the trials."""
        return any(level.is_limited for level in self.trials.values())

    @property
    def is_bound(self) -> bool:
        """Whether the rates are lower bounds: client and target shared the machine."""
        return any(level.is_contended for level in self.trials.values())

    @property
    def error_rate(self) -> float | None:
        """Failures as percent of the attempts of all trials, discarded ones too."""
        return trials.error_rate([level.counts for level in self.trials.values()])

    @property
    def counted_trials(self) -> dict[int, Level]:
        """The trials by round, without discarded rounds."""
        return {n: level for n, level in self.trials.items() if n not in self.discarded}

    def values(self, metric: Metric) -> dict[int, float]:
        """Return a metric of each trial that has it, by round, without discarded rounds."""
        read = {number: metric.read(level) for number, level in self.counted_trials.items()}
        return {number: value for number, value in read.items() if value is not None}

    def median(self, metric: Metric) -> float | None:
        """Return the median of a metric over the trials."""
        values = self.values(metric)
        return median(values.values()) if values else None

    def verdict(self, metric: Metric) -> Verdict:
        """Return the verdict of a metric; an empty one where none was made."""
        return self.verdicts.get(metric) or Verdict(metric=metric.key, request=metric.request)

    def count(self, verdict: Verdict) -> int:
        """Return how many rounds a verdict stands on; without one, how many trials it has."""
        return len(self.counted_trials) if verdict.n is None else verdict.n


@dataclass(frozen=True)
class ComparisonCell:
    """One cell: its setting in words, and an entry for every candidate, in their order."""

    words: str
    factors: Factors
    concurrency: int | None
    rate: float | None
    noun: str
    primary: Metric
    baseline: str
    entries: tuple[CandidateCell, ...]

    @property
    def position(self) -> Position:
        """The position of its load."""
        return position_of(self.concurrency, self.rate)

    @property
    def base(self) -> CandidateCell:
        """The entry of the baseline."""
        return next(
            (e for e in self.entries if e.name == self.baseline), CandidateCell(self.baseline)
        )

    @property
    def rivals(self) -> list[CandidateCell]:
        """The entries of all others."""
        return [entry for entry in self.entries if entry.name != self.baseline]

    def verdict(self, entry: CandidateCell) -> Verdict:
        """Return the verdict of the primary metric; an empty one where none was made."""
        return entry.verdict(self.primary)

    def standing(self, entry: CandidateCell) -> str:
        """Return the word of a candidate here, or, without a verdict, what happened to it."""
        if not entry.trials:
            return "failed" if entry.failures else "not measured"
        if entry.name == self.baseline:
            return "baseline"
        if not self.base.trials:
            return "no baseline"
        if entry.is_limited or self.base.is_limited:
            return "no verdict"
        return self.verdict(entry).word or "inconclusive"

    def printed(self, entry: CandidateCell) -> str:
        """Return the standing as people read it: `faster` for a better rate or time."""
        return self.primary.word(self.standing(entry))

    def reason(self, entry: CandidateCell) -> str | None:
        """Return why there is no better word, or what goes with it."""
        standing = self.standing(entry)
        if standing in ("failed", "no baseline"):
            failures = entry.failures if standing == "failed" else self.base.failures
            return failures[0].text if failures else say("it has no trial here")
        return self.verdict(entry).reason

    def pairs(self, entry: CandidateCell, metric: Metric) -> dict[int, tuple[float, float]]:
        """Return the baseline's number and the candidate's of each round that has both."""
        before, after = self.base.values(metric), entry.values(metric)
        return {number: (before[number], after[number]) for number in after if number in before}


@dataclass(frozen=True)
class Comparison:
    """The whole of it: names in the order of the experiment, the baseline among them."""

    names: tuple[str, ...]
    baseline: str
    primary: Metric
    cells: tuple[ComparisonCell, ...]
    failures: tuple[TrialFailure, ...]
    experiment: Experiment

    @classmethod
    def of(cls, result: RunResult) -> Self:
        """Put a result of kind `compare` in order."""
        failures = tuple(map(_named_once, result.failures))
        experiment = result.experiment
        every = [*experiment.candidates, *trials.candidates(result.levels)]
        names = list(dict.fromkeys([*every, *(failure.candidate for failure in failures)]))
        given = experiment.baseline or next((v.baseline for v in result.verdicts), None)
        baseline = given or next(iter(names), "")
        primary = _primary(result)
        cells = tuple(
            ComparisonCell(
                *(words, cell.factors, cell.concurrency or None, cell.rate),
                *(noun, primary, baseline, entries),
            )
            for words, cell, noun, entries in _places(result, failures, names)
        )
        return cls(tuple(names), baseline, primary, cells, failures, experiment)

    @property
    def rivals(self) -> list[str]:
        """The candidates that are not the baseline."""
        return [name for name in self.names if name != self.baseline]

    def of_rival(self, name: str) -> list[tuple[ComparisonCell, CandidateCell]]:
        """Return what a candidate did, cell by cell."""
        return [(p, entry) for p in self.cells for entry in p.entries if entry.name == name]


Judged = dict[Cell, dict[str, dict[Metric, Verdict]]]


def _primary(result: RunResult) -> Metric:
    named = (Metric(v.metric, v.request) for v in result.verdicts if v.family == "primary")
    levels = result.levels
    return next(named, None) or (primary_of(levels[0]) if levels else Metric(OK_PER_S))


def _named_once(failure: TrialFailure) -> TrialFailure:
    """Return a failure whose text does not begin with the candidate: readers see that beside it."""
    text = failure.text.values.get("what")
    if text is None:
        text = Message(failure.text.removeprefix(f"{failure.candidate}: "))
    return msgspec.structs.replace(failure, text=text)


def _places(
    result: RunResult,
    failures: Sequence[TrialFailure],
    names: Sequence[str],
) -> Iterator[tuple[str, Cell, str, tuple[CandidateCell, ...]]]:
    """Return the cells in the order of their factors, in words and with the unit of their load.

    A cell of failures alone has no load.
    """
    cells: dict[Cell, Rounds] = trials.by_cell(result.levels)
    known = {cell.factors_json for cell in cells}
    for failure in failures:
        text = factors_key(failure.factors)
        if text not in known:
            known.add(text)
            cells[Cell(text, 0)] = {}
    order = result.experiment.factors
    ordered = sorted(cells, key=lambda cell: _rank(cell.factors, order))
    first = next((level.factors for level in result.levels), {})
    nouns = {cell: _noun(cells[cell]) for cell in ordered}
    show = cell_names.setting(nouns, order or first)
    judged = _by_place(result.verdicts)
    for cell in ordered:
        entries = _entries(cell, cells[cell], judged.get(cell, {}), failures, names)
        yield show(cell), cell, nouns[cell], tuple(entries)


def _noun(rounds: Rounds) -> str:
    return noun_of(level for trials in rounds.values() for level in trials.values())


def _rank(factors: Factors, order: Mapping[str, Sequence[Any]]) -> list[int]:
    """Return the position of a setting among the experiment's, the last factor fastest."""
    return [
        values.index(factors[name]) if factors.get(name) in values else len(values)
        for name, values in order.items()
    ]


def _entries(
    cell: Cell,
    rounds: Rounds,
    verdicts: Mapping[str, Mapping[Metric, Verdict]],
    failures: Sequence[TrialFailure],
    names: Sequence[str],
) -> Iterator[CandidateCell]:
    here = [failure for failure in failures if factors_key(failure.factors) == cell.factors_json]
    every = [verdict for of_one in verdicts.values() for verdict in of_one.values()]
    gone = frozenset(n for v in every if v.discarded for n in v.discarded.rounds)
    for name in names:
        yield CandidateCell(
            name,
            {number: made[name] for number, made in rounds.items() if name in made},
            [failure for failure in here if failure.candidate == name],
            verdicts.get(name, {}),
            gone,
        )


def _by_place(verdicts: Sequence[Verdict]) -> Judged:
    judged: Judged = {}
    for verdict in verdicts:
        if verdict.baseline is None:
            continue
        cell = Cell(factors_key(verdict.factors), verdict.concurrency or 0, verdict.rate)
        metric = Metric(verdict.metric, verdict.request)
        judged.setdefault(cell, {}).setdefault(verdict.candidate or "", {})[metric] = verdict
    return judged
