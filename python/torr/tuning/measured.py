"""Trials of a tuning as its procedure takes them, from levels and failures of a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET

from torr.messages.message import Message, message
from torr.stats.metric import Metric
from torr.stats.series import starved_text
from torr.tuning.trials import LIMITED, NO_NUMBER, TuneTrial
from torr.verdicts.slo_evidence import evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.model.condition import Condition
    from torr.results.level import Level
    from torr.results.result import TrialFailure
    from torr.results.tuning import TrialPlace

CPU = Metric("target_cpu_us_per_request")
MEMORY = Metric("target_rss_max_bytes")
CRASHED = "died"
"""The failure that a measured level does not make good: the server ended under its load."""


@dataclass(frozen=True, slots=True)
class TrialReader:
    """Reads trials: the number of the primary metric, and what each one shows of the SLOs."""

    metric: Metric
    slos: tuple[Condition, ...] = ()

    def trials(
        self, levels: Iterable[Level], failures: Iterable[TrialFailure]
    ) -> dict[TrialPlace, TuneTrial]:
        """Return the trials by place; one that was cut short is none, since it is repeated."""
        found = {
            level.place: self.of_level(level, level.place)
            for level in levels
            if level.place is not UNSET and not level.cut_short
        }
        for failure in failures:
            if failure.place is not UNSET and (not failure.measured or failure.kind == CRASHED):
                found[failure.place] = of_failure(failure, failure.place)
        return found

    def of_level(self, level: Level, place: TrialPlace) -> TuneTrial:
        """Return the trial of a measured level."""
        problem, why = self.problem_of(level)
        return TuneTrial(
            place=place,
            value=None if problem else self.metric.read(level),
            slos=tuple(evidence_of(condition, level) for condition in self.slos),
            problem=problem,
            why=why,
            failed=level.counts.failed,
            ended=level.counts.ended,
            cpu_us_per_request=CPU.read(level),
            memory_bytes=MEMORY.read(level),
        )

    def problem_of(self, level: Level) -> tuple[str | None, Message | None]:
        """Return the kind of problem because of which a level has no number, and why."""
        if level.is_limited:
            return LIMITED, message("slo.generator_limit", "the generator was the limit")
        if level.is_starved:
            return "starved", starved_text(level)
        if not level.counts.ok:
            return "no_success", message("slo.no_success", "no request succeeded")
        if self.metric.is_time and self.metric.is_lower_bound(level):
            return "unsent", message(
                "tuning.unsent",
                "{n:,} due requests were never sent: it did not keep up with the rate",
                n=level.counts.dropped,
            )
        if self.metric.read(level) is None:
            why = message("tuning.no_number", "{metric} has no number", metric=self.metric.label)
            return NO_NUMBER, why
        return None, None


def of_failure(failure: TrialFailure, place: TrialPlace) -> TuneTrial:
    """Return the trial of a failure."""
    return TuneTrial(place=place, value=None, problem=failure.kind, why=failure.text)
