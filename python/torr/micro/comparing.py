"""Compare functions in one process, in interleaved rounds, with the statistics used for servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.micro import overhead
from torr.micro.errors import ErrorCounts
from torr.micro.measuring import COUNT, ROUNDS, Measurement, batch_size, check_counts, run_round
from torr.micro.tracing import untraced
from torr.micro.trial import trial
from torr.stats import williams
from torr.verdicts import comparison

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torr.micro.overhead import Overhead
    from torr.micro.subject import Subject
    from torr.results.level import Level
    from torr.results.verdict import Verdict

SEED = 1


@dataclass(frozen=True, slots=True)
class FunctionComparison:
    """The trials of all functions, and their verdicts against the first function."""

    baseline: str
    levels: list[Level]
    verdicts: list[Verdict]

    def word(self, name: str | None = None) -> str:
        """Return the word of the primary metric, ok/s, for a function; by default the second."""
        words = {str(v.candidate): v.word for v in self.verdicts if v.family == "primary"}
        for candidate, word in words.items():
            if name in (None, candidate):
                return str(word)
        known = ", ".join(words)
        raise UsageError(f"{name!r} was not compared with {self.baseline}", f"one of {known}")


def compare_functions(
    subjects: Mapping[str, Subject], count: int = COUNT, rounds: int = ROUNDS, seed: int = SEED
) -> FunctionComparison:
    """Measure functions in turn, round by round; the first one is the baseline.

    The order within rounds is a Williams square. Raises UsageError for fewer than two.
    """
    if len(subjects) < 2:
        raise UsageError("a comparison needs two functions", "give both by their names")
    check_counts(count, rounds)
    for subject in subjects.values():
        subject.check()
    cost = overhead.timing_overhead()
    orders = williams.order(list(subjects), rounds, seed)
    with untraced():
        # The same batch size for all, so that the overhead of the clock is equal.
        batch = min(batch_size(subject, count, cost) for subject in subjects.values())
        levels = _levels(subjects, (count, batch, cost), orders)
        if batch > 1 and any(level.reasons for level in levels):
            # An error ends its batch, whose time is then unusable.
            levels = _levels(subjects, (count, 1, cost), orders)
    baseline = next(iter(subjects))
    return FunctionComparison(baseline, levels, comparison.verdicts(levels, baseline))


def _levels(
    subjects: Mapping[str, Subject],
    settings: tuple[int, int, Overhead],
    orders: Sequence[Sequence[str]],
) -> list[Level]:
    """Return the rounds as levels, in their order; `settings` are count, batch and overhead."""
    count, batch, cost = settings
    measured = {
        name: Measurement((), batch, cost, subject.gc_off, ErrorCounts())
        for name, subject in subjects.items()
    }
    rounds = [
        (name, number, run_round(subjects[name], count, batch, cost, measured[name].errors))
        for number, order in enumerate(orders, 1)
        for name in order
    ]
    return [trial(name, {}, number, round_, measured[name]) for name, number, round_ in rounds]
