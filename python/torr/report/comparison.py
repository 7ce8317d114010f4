"""A comparison's result put in order: its cells, and in each what every candidate did there.

    Comparison ─ Place (one cell) ─ Entry (one candidate in it): trials, failures, verdicts

Whatever is missing, as of a run that was interrupted, is empty: everything can still be drawn.
Nothing is judged here. Where trials forbid a verdict the standing says so, whatever the word is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from torr.report import comparison_words
from torr.stats import trials
from torr.stats.metric import OK_PER_S, Metric, primary_of
from torr.stats.series import is_limited, verdict_of
from torr.stats.trials import Cell, Rounds

if TYPE_CHECKING:
    from typing_extensions import Self

Json = Mapping[str, Any]

SETTLED = ("better", "worse", "same")
"""The words that claim something."""


@dataclass(frozen=True)
class Entry:
    """One candidate in one cell.

    `trials` are by round; `verdicts` by their metric, none for the baseline; `discarded` are the
    rounds of the cell that a rule took out.
    """

    name: str
    trials: Mapping[int, Json] = field(default_factory=dict)
    failures: Sequence[Json] = ()
    verdicts: Mapping[Metric, Json] = field(default_factory=dict)
    discarded: frozenset[int] = frozenset()

    @property
    def is_limited(self) -> bool:
        """Whether the generator was the limit in one of the trials."""
        return any(map(is_limited, self.trials.values()))

    @property
    def is_bound(self) -> bool:
        """Whether the rates are lower bounds: client and target shared the machine."""
        return any(verdict_of(level) == "contended" for level in self.trials.values())

    @property
    def error_rate(self) -> float | None:
        """Failures as percent of the attempts of all trials, discarded ones too."""
        return trials.error_rate(list(self.trials.values()))

    @property
    def kept(self) -> dict[int, Json]:
        """The trials by round, without discarded rounds."""
        return {n: level for n, level in self.trials.items() if n not in self.discarded}

    def values(self, metric: Metric) -> dict[int, float]:
        """Return a metric of each trial that has it, by round, without discarded rounds."""
        read = {number: metric.read(level) for number, level in self.kept.items()}
        return {number: value for number, value in read.items() if value is not None}

    def middle(self, metric: Metric) -> float | None:
        """Return the median of a metric over the trials."""
        values = self.values(metric)
        return median(values.values()) if values else None


@dataclass(frozen=True)
class Place:
    """One cell: its setting in words, and an entry for every candidate, in their order."""

    words: str
    factors: Mapping[str, Any]
    concurrency: int | None
    rate: float | None
    primary: Metric
    baseline: str
    entries: tuple[Entry, ...]

    @property
    def base(self) -> Entry:
        """The entry of the baseline."""
        return next((e for e in self.entries if e.name == self.baseline), Entry(self.baseline))

    @property
    def rivals(self) -> list[Entry]:
        """The entries of all others."""
        return [entry for entry in self.entries if entry.name != self.baseline]

    def verdict(self, entry: Entry) -> Json | None:
        """Return the verdict of the primary metric."""
        return entry.verdicts.get(self.primary)

    def standing(self, entry: Entry) -> str:
        """Return the word of a candidate here, or what stands in the place of one."""
        if not entry.trials:
            return "failed" if entry.failures else "not measured"
        if entry.name == self.baseline:
            return "baseline"
        if not self.base.trials:
            return "no baseline"
        if entry.is_limited or self.base.is_limited:
            return "no verdict"
        return (self.verdict(entry) or {}).get("word") or "inconclusive"

    def printed(self, entry: Entry) -> str:
        """Return the standing as people read it: `faster` for a better rate or time."""
        return self.primary.word(self.standing(entry))

    def reason(self, entry: Entry) -> str | None:
        """Return why there is no better word, or what goes with it."""
        standing = self.standing(entry)
        if standing in ("failed", "no baseline"):
            failures = entry.failures if standing == "failed" else self.base.failures
            return failures[0].get("text") if failures else "it has no trial here"
        return (self.verdict(entry) or {}).get("reason")

    def pairs(self, entry: Entry, metric: Metric) -> dict[int, tuple[float, float]]:
        """Return the baseline's number and the candidate's of each round that has both."""
        before, after = self.base.values(metric), entry.values(metric)
        return {number: (before[number], after[number]) for number in after if number in before}


@dataclass(frozen=True)
class Comparison:
    """The whole of it: names in the order of the experiment, the baseline among them."""

    names: tuple[str, ...]
    baseline: str
    primary: Metric
    places: tuple[Place, ...]
    failures: tuple[Json, ...]
    experiment: Json

    @classmethod
    def of(cls, result: Json) -> Self:
        """Put a result of kind `compare` in order."""
        levels, found = result.get("levels") or [], result.get("verdicts") or []
        failures = tuple(map(_named_once, result.get("failures") or ()))
        experiment = result.get("experiment") or {}
        every = [*(experiment.get("candidates") or {}), *trials.candidates(levels)]
        names = list(dict.fromkeys([*every, *(str(f.get("candidate") or "") for f in failures)]))
        given = experiment.get("baseline") or next((v.get("baseline") for v in found), None)
        baseline = given or next(iter(names), "")
        primary = _primary(levels, found)
        places = _places(levels, found, failures, experiment, names)
        return cls(
            tuple(names),
            baseline,
            primary,
            tuple(Place(*each[:4], primary, baseline, each[4]) for each in places),
            failures,
            experiment,
        )

    @property
    def rivals(self) -> list[str]:
        """The candidates that are not the baseline."""
        return [name for name in self.names if name != self.baseline]

    def of_rival(self, name: str) -> list[tuple[Place, Entry]]:
        """Return what a candidate did, cell by cell."""
        return [(p, entry) for p in self.places for entry in p.entries if entry.name == name]


Judged = dict[Cell, dict[str, dict[Metric, Json]]]
Found = tuple[str, dict[str, Any], int | None, float | None, tuple[Entry, ...]]


def _primary(levels: Sequence[Json], found: Sequence[Json]) -> Metric:
    named = (Metric(v["metric"], v.get("request")) for v in found if v.get("family") == "primary")
    first = next(named, None)
    return first or (primary_of(levels[0]) if levels else Metric(OK_PER_S))


def _named_once(failure: Json) -> Json:
    """A failure whose text does not begin with the candidate: wherever it stands, that does."""
    name, text = failure.get("candidate"), failure.get("text")
    if not name or not isinstance(text, str):
        return failure
    return {**failure, "text": text.removeprefix(f"{name}: ")}


def _places(
    levels: Sequence[Json],
    verdicts: Sequence[Json],
    failures: Sequence[Json],
    experiment: Json,
    names: Sequence[str],
) -> list[Found]:
    """The cells in the order of their factors; one of failures alone has no level of load."""
    cells: dict[Cell, Rounds] = trials.by_cell(levels)
    known = {cell.factors_json for cell in cells}
    for failure in failures:
        text = _text_of(failure.get("factors"))
        if text not in known:
            known.add(text)
            cells[Cell(text, 0)] = {}
    order = experiment.get("factors") or {}
    ordered = sorted(cells, key=lambda cell: _rank(cell.factors, order))
    first = next((level.get("factors") for level in levels), None)
    show = comparison_words.setting(ordered, order or first or {})
    judged = _by_place(verdicts)
    entries = [tuple(_entries(cell, cells[cell], judged, failures, names)) for cell in ordered]
    return [
        (show(cell), cell.factors, cell.concurrency or None, cell.rate, each)
        for cell, each in zip(ordered, entries, strict=True)
    ]


def _rank(factors: Json, order: Mapping[str, Sequence[Any]]) -> list[int]:
    """Where a setting stands among those that were asked for, the last factor fastest."""
    return [
        values.index(factors[name]) if factors.get(name) in values else len(values)
        for name, values in order.items()
    ]


def _entries(
    cell: Cell, rounds: Rounds, judged: Judged, failures: Sequence[Json], names: Sequence[str]
) -> Iterator[Entry]:
    here = [f for f in failures if _text_of(f.get("factors")) == cell.factors_json]
    verdicts = judged.get(cell, {})
    every = [verdict for of_one in verdicts.values() for verdict in of_one.values()]
    gone = frozenset(n for v in every for n in (v.get("discarded") or {}).get("rounds") or ())
    for name in names:
        yield Entry(
            name,
            {number: made[name] for number, made in rounds.items() if name in made},
            [f for f in here if (f.get("candidate") or "") == name],
            verdicts.get(name, {}),
            gone,
        )


def _by_place(verdicts: Sequence[Json]) -> Judged:
    found: Judged = {}
    for verdict in verdicts:
        if verdict.get("baseline") is None:
            continue
        factors = _text_of(verdict.get("factors"))
        cell = Cell(factors, verdict.get("concurrency") or 0, verdict.get("rate"))
        metric = Metric(verdict["metric"], verdict.get("request"))
        found.setdefault(cell, {}).setdefault(verdict["candidate"], {})[metric] = verdict
    return found


def _text_of(factors: Json | None) -> str:
    return json.dumps(factors or {}, sort_keys=True)
