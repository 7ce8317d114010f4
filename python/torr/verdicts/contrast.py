"""One comparison: a candidate against the baseline, in one cell, by one metric.

A contrast has the trials, finds obstacles to comparing them, and makes the verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from torr.messages.message import Message, message, message_count, message_list
from torr.results.verdict import Ends, Verdict
from torr.stats import estimate
from torr.stats.estimate import Estimate, ratio_of
from torr.stats.metric import ERROR_RATE, Metric
from torr.stats.series import variation
from torr.stats.signed_rank import UNBOUNDED, Interval
from torr.stats.trials import Cell, Rounds, error_rate
from torr.verdicts.error_rates import error_rates_apart
from torr.verdicts.judgement import DELTA, Evidence, Judgement, judge, margin_of_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from torr.results.level import AttemptCounts, Level


NOT_INTERLEAVED = message("comparison.not_interleaved", "not interleaved: drift not excluded")


@dataclass(frozen=True)
class Contrast:
    """The trials of the baseline, `before`, and those of the candidate, `after`.

    Paired trials have the same index in both; a round in which one side has no trial is in neither.
    """

    cell: Cell
    baseline: str
    candidate: str
    metric: Metric
    before: Sequence[Level]
    after: Sequence[Level]
    is_paired: bool = True

    @classmethod
    def of_rounds(
        cls, cell: Cell, rounds: Rounds, baseline: str, candidate: str, metric: Metric
    ) -> Self:
        """Pair the trials of a cell by round."""
        both = [trials for trials in rounds.values() if {baseline, candidate} <= set(trials)]
        before, after = ([trials[name] for trials in both] for name in (baseline, candidate))
        return cls(cell, baseline, candidate, metric, before, after)

    @property
    def values(self) -> tuple[list[float], list[float]]:
        """Return the numbers of both sides in the order of rounds; only complete pairs."""
        before, after = ([self.metric.read(x) for x in side] for side in (self.before, self.after))
        if self.is_paired:
            pairs = zip(before, after, strict=True)
            known = [(a, b) for a, b in pairs if a is not None and b is not None]
            return [a for a, _ in known], [b for _, b in known]
        return [a for a in before if a is not None], [b for b in after if b is not None]

    def estimate(self, alpha: float) -> Estimate:
        """Return how much the sides differ."""
        compare = estimate.paired if self.is_paired else estimate.unpaired
        return compare(*self.values, alpha, is_share=self.metric.is_share)

    def verdict(self, estimated: Estimate, p_adjusted: float, family: int, alpha: float) -> Verdict:
        """Return the verdict without the name of its family."""
        evidence = self._evidence(estimated, p_adjusted, family, alpha)
        judgement, obstacle = judge(evidence), evidence.obstacle
        unsent = self._bound_obstacle(judgement.word)
        if obstacle is None and unsent is not None:
            judgement, obstacle = Judgement("inconclusive", unsent), unsent
        before, after = self.values
        centre = self._on_scale(estimated.centre) if estimated.count else None
        return Verdict(
            candidate=self.candidate,
            baseline=self.baseline,
            factors=self.cell.factors,
            concurrency=self.cell.concurrency,
            rate=self.cell.rate,
            metric=self.metric.key,
            request=self.metric.request,
            value=median(after) if after else None,
            baseline_value=median(before) if before else None,
            ratio=None if self.metric.is_share else centre,
            difference=centre if self.metric.is_share else None,
            interval=self._ends(estimated.interval),
            inner_interval=self._ends(self._with_unseen(estimated.inner)),
            margin=self._margin,
            n=estimated.count,
            p=estimated.p,
            p_adjusted=p_adjusted,
            alpha=alpha,
            method=estimated.method,
            spread=estimated.spread,
            spreads=[variation(before), variation(after)],
            bounds=self._bounds,
            trials=[before, after],
            word=judgement.word,
            reason=self._with_pairing(judgement.reason),
            obstacle=obstacle,
            more_rounds=judgement.more_rounds,
        )

    def _on_scale(self, difference: float) -> float | None:
        """Return a difference as a ratio or in points; None where there is no bound."""
        if not self.metric.is_share:
            return ratio_of(difference)
        return difference if math.isfinite(difference) else None

    def _with_unseen(self, interval: Interval) -> Interval:
        """Return the interval, as wide as the failures that may be there and were not seen."""
        unseen = self._none_seen()
        if unseen is None:
            return interval
        return min(interval[0], -unseen), max(interval[1], unseen)

    def _ends(self, interval: Interval) -> Ends | None:
        if interval == UNBOUNDED:
            return None
        return self._on_scale(interval[0]), self._on_scale(interval[1])

    def _evidence(
        self, estimated: Estimate, p_adjusted: float, family: int, alpha: float
    ) -> Evidence:
        return Evidence(
            count=estimated.count,
            # Only the signed-rank test has a smallest p, which limits the size of a family.
            family=family if self.is_paired else 1,
            centre=estimated.centre,
            inner=estimated.inner,
            spread=estimated.spread,
            p_adjusted=p_adjusted,
            margin=self._margin,
            more_is_better=self.metric.more_is_better,
            alpha=alpha,
            obstacle=self._obstacle(),
            none_seen=self._none_seen(),
            is_paired=self.is_paired,
            is_share=self.metric.is_share,
        )

    @property
    def _margin(self) -> float:
        if not self.metric.is_share:
            return math.log1p(DELTA)
        before, _ = self.values
        return margin_of_shares(median(before) if before else None)

    def _obstacle(self) -> Message | None:
        """Return the reason that forbids any claim, whatever the number of rounds."""
        limited = sum(level.is_limited for level in (*self.before, *self.after))
        if limited:
            trials = message_count("count.trials", limited, "{n:,} trial", "{n:,} trials")
            return message(
                "comparison.generator_limit",
                "the generator was the limit in {trials}",
                trials=trials,
            )
        starved = self._starved()
        if starved is not None:
            return starved
        if self.metric.is_time:
            apart = error_rates_apart(*map(error_rate, self._counts))
            if apart is not None:
                return apart
        batches = self._batches()
        if batches is not None:
            return batches
        if (
            not self.is_paired
            and not self.metric.is_share
            and 0 in {*self.values[0], *self.values[1]}
        ):
            return message("comparison.zero", "a trial has 0, which has no logarithm")
        return None

    def _batches(self) -> Message | None:
        """Return the obstacle of different batches, whose times are not those of operations."""
        if not self.metric.is_time:
            return None
        sizes = [{x.micro.batch if x.micro else 1 for x in side} for side in self._sides]
        if len(sizes[0] | sizes[1]) < 2:
            return None
        shown = ", ".join(f"{size:,}" for size in sorted(sizes[0] | sizes[1]))
        return message(
            "comparison.batches",
            "operations were timed in batches of different sizes: {sizes}",
            sizes=shown,
        )

    @property
    def _sides(self) -> tuple[Sequence[Level], Sequence[Level]]:
        return self.before, self.after

    @property
    def _counts(self) -> list[list[AttemptCounts]]:
        """Return the counts of both sides, of the request that is compared if it is one."""
        parts = [map(self.metric.part, side) for side in self._sides]
        return [[part.counts for part in side if part is not None] for side in parts]

    @property
    def _bounds(self) -> list[bool]:
        """Return for each side whether its numbers are lower bounds."""
        return [any(map(self.metric.is_lower_bound, side)) for side in self._sides]

    def _bound_obstacle(self, word: str) -> Message | None:
        """Return the obstacle to a word about times of requests of which some were never sent.

        Lower bounds of times can only show that they are longer.
        """
        bounds = self._bounds
        shown = {("worse", False, True), ("better", True, False)}
        if not self.metric.is_time or not any(bounds) or (word, *bounds) in shown:
            return None
        if all(bounds):
            return message(
                "comparison.both_unsent",
                "{baseline} and {candidate} left due requests unsent: those times are lower bounds",
                baseline=self.baseline,
                candidate=self.candidate,
            )
        return message(
            "comparison.unsent",
            "{name} left due requests unsent: those times are lower bounds",
            name=self.baseline if bounds[0] else self.candidate,
        )

    def _starved(self) -> Message | None:
        """Return the obstacle of a side in most of whose trials users starved."""
        for name, side in ((self.candidate, self.after), (self.baseline, self.before)):
            count = sum(level.is_starved for level in side)
            if 2 * count > len(side):
                return message(
                    "comparison.starved",
                    "users of {name} got no response in {starved} of {trials} trials",
                    name=name,
                    starved=count,
                    trials=len(side),
                )
        return None

    def _none_seen(self) -> float | None:
        """Return the highest error rate in percent that 0 failures on both sides allow."""
        counts = self._counts
        has_failed = any(count.failed for side in counts for count in side)
        if self.metric.key not in (ERROR_RATE, "success_rate") or has_failed:
            return None
        attempts = min(sum(count.ended for count in side) for side in counts)
        return 300 / attempts if attempts else None

    def _with_pairing(self, reason: Message | None) -> Message | None:
        if self.is_paired:
            return reason
        return NOT_INTERLEAVED if reason is None else message_list("; ", [reason, NOT_INTERLEAVED])
