"""Two functions or more in one process, in interleaved rounds, judged as servers are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.micro import overhead
from torr.micro.errors import Errors
from torr.micro.measuring import COUNT, ROUNDS, Measurement, batch_of, check_counts, one_round
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
class Compared:
    """The trials of all functions, and the verdicts of each against the first."""

    baseline: str
    levels: list[Level]
    verdicts: list[Verdict]

    def word(self, name: str | None = None) -> str:
        """Return the word of the primary metric, ok/s, for a function: the only other one."""
        found = [v for v in self.verdicts if v.family == "primary"]
        for verdict in found:
            if name in (None, verdict.candidate):
                return str(verdict.word)
        known = ", ".join(str(v.candidate) for v in found)
        raise UsageError(f"{name!r} was not compared with {self.baseline}", f"one of {known}")


def compare_functions(
    subjects: Mapping[str, Subject], count: int = COUNT, rounds: int = ROUNDS, seed: int = SEED
) -> Compared:
    """Measure functions in turn, round by round; the first one is the baseline.

    The order within rounds is a Williams square. Raises UsageError for fewer than two.
    """
    if len(subjects) < 2:
        raise UsageError("a comparison needs two functions", "give both by their names")
    check_counts(count, rounds)
    for subject in subjects.values():
        subject.check()
    cost = overhead.measured()
    orders = williams.order(list(subjects), rounds, seed)
    with untraced():
        # One batch for all: a look at the clock weighs the same on either side.
        batch = min(batch_of(subject, count, cost) for subject in subjects.values())
        levels = _levels(subjects, (count, batch, cost), orders)
        if batch > 1 and any(level.reasons for level in levels):
            # An error ends its batch, which says nothing then.
            levels = _levels(subjects, (count, 1, cost), orders)
    baseline = next(iter(subjects))
    return Compared(baseline, levels, comparison.verdicts(levels, baseline))


def _levels(
    subjects: Mapping[str, Subject],
    how: tuple[int, int, Overhead],
    orders: Sequence[Sequence[str]],
) -> list[Level]:
    """The rounds in their order, each of so many operations in batches."""
    count, batch, cost = how
    errors = {name: Errors() for name in subjects}
    rounds = [
        (number, name, one_round(subjects[name], count, batch, cost, errors[name]))
        for number, order in enumerate(orders, 1)
        for name in order
    ]
    measured = {
        name: Measurement((), batch, cost, subject.gc_off, errors[name])
        for name, subject in subjects.items()
    }
    return [trial(name, {}, number, one, measured[name]) for number, name, one in rounds]
