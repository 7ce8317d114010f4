"""Verdicts about candidates: each against the baseline, in each cell, by each metric.

    trials ─ paired by round, or unpaired ─ estimate ─ Holm over the family ─ the word

The primary metric's comparisons are one family, those of all other metrics a second. A rule that
discards rounds does not see the outcome of a comparison; discarded rounds are counted and named,
and every verdict also says what it would be with them. Shares of attempts are always judged over
all rounds, since failures may be why a rule discarded a round.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import structs

from torr.messages.message import message
from torr.results.verdict import ComparisonOutcome, DiscardedRounds
from torr.stats import holm
from torr.stats.estimate import ALPHA
from torr.stats.metric import METRICS, OF_STREAMS, Metric, primary_of
from torr.stats.trials import Cell, Rounds, by_cell, candidates
from torr.verdicts import slo
from torr.verdicts.contrast import Contrast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torr.model.condition import Condition
    from torr.results.experiment import GivenUp
    from torr.results.level import Level
    from torr.results.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Procedure:
    """The procedure by which trials are judged.

    `primary` is the metric of the first family: None for p99 under arrivals at a rate, else ok/s.
    `metrics` are the others; metrics without a number in any trial are left out. `rule` discards
    each round in which it holds for a trial; `discarded` are such rounds of cells of which only
    some trials are judged. `alpha` is the chance of a false finding in a family.
    """

    primary: Metric | None = None
    metrics: tuple[Metric, ...] = (*METRICS, *OF_STREAMS)
    rule: Condition | None = None
    alpha: float = ALPHA
    discarded: Mapping[Cell, DiscardedRounds] = field(default_factory=dict)

    def primary_of(self, levels: Sequence[Level]) -> Metric:
        """Return the primary metric of these trials."""
        return self.primary or primary_of(levels[0])

    def metrics_of(self, levels: Sequence[Level]) -> list[Metric]:
        """Return the metrics to judge, the primary one first."""
        primary = self.primary_of(levels)
        others = (m for m in self.metrics if any(m.read(level) is not None for level in levels))
        return list(dict.fromkeys((primary, *others)))


STANDARD = Procedure()


def verdicts(
    levels: Sequence[Level], baseline: str, procedure: Procedure = STANDARD
) -> list[Verdict]:
    """Return the verdicts of interleaved trials, each candidate against the baseline.

    `levels` are trials with `candidate`, `factors` and `round`. There is a verdict for each cell,
    candidate and metric, in this order.
    """
    if not levels:
        return []
    cells = by_cell(levels)
    whole = _judged(_contrasts(cells, levels, baseline, procedure), levels, procedure)
    if procedure.rule is None:
        return whole
    known = procedure.discarded
    split = {
        cell: (_without(rounds, known[cell]), known[cell])
        if cell in known
        else discard(rounds, procedure.rule)
        for cell, rounds in cells.items()
    }
    remaining = {cell: rounds for cell, (rounds, _) in split.items()}
    contrasts = [
        every if every.metric.is_share else some
        for every, some in zip(
            _contrasts(cells, levels, baseline, procedure),
            _contrasts(remaining, levels, baseline, procedure),
            strict=True,
        )
    ]
    judged = _judged(contrasts, levels, procedure)
    discarded = [split[contrast.cell][1] for contrast in contrasts]
    return [_with_outcome_of_all(*x) for x in zip(judged, whole, discarded, strict=True)]


def with_given_up(verdict: Verdict, given_up: Sequence[GivenUp]) -> Verdict:
    """Return the verdict, final where one of its sides was given up."""
    for side in given_up:
        of_side = side.candidate in (verdict.candidate, verdict.baseline)
        if side.factors == verdict.factors and verdict.word == "inconclusive" and of_side:
            reason = message(
                "comparison.given_up",
                "{candidate} was given up after {n} failures in a row",
                candidate=side.candidate,
                n=side.failures,
            )
            return structs.replace(verdict, reason=reason, more_rounds=None)
    return verdict


def unpaired(
    before: Sequence[Level],
    after: Sequence[Level],
    names: tuple[str, str],
    procedure: Procedure = STANDARD,
) -> list[Verdict]:
    """Return the verdicts of two sides that were not interleaved, by their common cells.

    `names` are those of the baseline, whose trials are `before`, and of the candidate.
    """
    sides = [_trials_by_cell(side) for side in (before, after)]
    levels = [*before, *after]
    if not levels:
        return []
    metrics = procedure.metrics_of(levels)
    contrasts = [
        Contrast(cell, *names, metric, sides[0][cell], sides[1][cell], is_paired=False)
        for cell in sides[0]
        if cell in sides[1]
        for metric in metrics
    ]
    primary = procedure.primary_of(levels)
    # Where no side has a number, there is no verdict that could be wrong.
    judged = [x for x in contrasts if x.metric == primary or any(x.values)]
    return _judged(judged, levels, procedure)


def discard(rounds: Rounds, rule: Condition) -> tuple[Rounds, DiscardedRounds]:
    """Split a cell's rounds into those that stay, and a description of the discarded ones.

    A round is discarded when the condition holds for any of its trials.
    """
    matching = {
        number: [name for name, level in trials.items() if slo.judge(rule, level).word == "held"]
        for number, trials in rounds.items()
    }
    discarded = [number for number, names in matching.items() if names]
    counts = Counter(name for names in matching.values() for name in names)
    found = DiscardedRounds(rule=rule.text or str(rule), rounds=discarded, because_of=dict(counts))
    return _without(rounds, found), found


def _without(rounds: Rounds, discarded: DiscardedRounds) -> Rounds:
    return {number: x for number, x in rounds.items() if number not in discarded.rounds}


def _contrasts(
    cells: Mapping[Cell, Rounds], levels: Sequence[Level], baseline: str, procedure: Procedure
) -> list[Contrast]:
    rivals = [name for name in candidates(levels) if name != baseline]
    metrics = procedure.metrics_of(levels)
    return [
        Contrast.of_rounds(cell, rounds, baseline, rival, metric)
        for cell, rounds in cells.items()
        for rival in rivals
        for metric in metrics
    ]


def _judged(
    contrasts: Sequence[Contrast], levels: Sequence[Level], procedure: Procedure
) -> list[Verdict]:
    """Return a verdict for each contrast, with p adjusted within its family."""
    estimates = [contrast.estimate(procedure.alpha) for contrast in contrasts]
    by_index: dict[int, Verdict] = {}
    primary = procedure.primary_of(levels)
    is_primary = [contrast.metric == primary for contrast in contrasts]
    for family in ("primary", "secondary"):
        indexes = [i for i, is_first in enumerate(is_primary) if is_first == (family == "primary")]
        adjusted = holm.adjusted([estimates[i].p for i in indexes])
        for i, p in zip(indexes, adjusted, strict=True):
            verdict = contrasts[i].verdict(estimates[i], p, len(indexes), procedure.alpha)
            by_index[i] = structs.replace(verdict, family=family)
    return [by_index[i] for i in range(len(contrasts))]


def _trials_by_cell(levels: Iterable[Level]) -> dict[Cell, list[Level]]:
    cells: dict[Cell, list[Level]] = {}
    for level in levels:
        cells.setdefault(Cell.of(level), []).append(level)
    return cells


def _with_outcome_of_all(verdict: Verdict, whole: Verdict, discarded: DiscardedRounds) -> Verdict:
    """Return the verdict without the discarded rounds, which also has the outcome with them."""
    if not discarded.rounds:
        return verdict
    names = ComparisonOutcome.__struct_fields__
    outcome = ComparisonOutcome(**{name: getattr(whole, name) for name in names})
    return structs.replace(verdict, discarded=structs.replace(discarded, whole=outcome))
