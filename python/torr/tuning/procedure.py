"""The procedure of a tuning: search without claims, fix the finalists, judge them in fresh rounds.

It decides only which trial is next. It starts no server, reads no clock and draws from its seed
alone, so that the same trials always have the same next trial. A tuning that was interrupted goes
on by replaying the trials that are on the disk.

    search ─ finalists, in a fixed order ─ fresh rounds ─ look ─ … ─ look ─ the verdict
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from torr.stats import williams
from torr.tuning.search import Failures, Trials, measure_round, search
from torr.tuning.trials import TrialPlace
from torr.verdicts.tuning import FreshRounds, FreshValue, TuneVerdict, judge_finalists

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from torr.tuning.budget import TuneBudget
    from torr.tuning.trials import SettingOut, TuneTrial


@dataclass(frozen=True, slots=True)
class TuneOutcome:
    """The end of a procedure: the finalists in their fixed order, and the last verdict on them.

    The verdict is None if no setting but the default could be measured. `untried` are settings that
    did not enter the search.
    """

    finalists: tuple[int, ...]
    verdict: TuneVerdict | None
    out: tuple[SettingOut, ...]
    untried: int


@dataclass(frozen=True, slots=True)
class TuneProcedure:
    """The procedure for `budget.settings` settings, numbered from 0, of which one is the default.

    `more_is_better` is the direction of the primary metric.
    """

    default: int
    budget: TuneBudget
    seed: int = 1
    more_is_better: bool = True

    def entrants(self) -> list[int]:
        """Return the settings that enter the search, drawn by the seed; never the default."""
        others = [n for n in range(self.budget.settings) if n != self.default]
        # Not a secret: a draw that can be repeated.
        return Random(self.seed).sample(others, self.budget.entrants)  # noqa: S311

    def steps(self) -> Generator[TrialPlace, TuneTrial, TuneOutcome]:
        """Yield the place of each trial, and receive the trial; return the outcome."""
        failures = Failures()
        entrants = self.entrants()
        finalists = yield from search(
            entrants,
            self.budget.levels,
            failures,
            self.seed,
            more_is_better=self.more_is_better,
        )
        verdict = (yield from self._fresh_rounds(finalists, failures)) if finalists else None
        return TuneOutcome(
            finalists=finalists,
            verdict=verdict,
            out=tuple(failures.out.values()),
            untried=self.budget.settings - 1 - len(entrants),
        )

    def run(self, measure: Callable[[TrialPlace], TuneTrial]) -> TuneOutcome:
        """Measure the trials of the whole procedure; return the outcome."""
        steps = self.steps()
        following = _advance(steps, None)
        while isinstance(following, TrialPlace):
            following = _advance(steps, measure(following))
        return following

    def replay(self, trials: Iterable[TuneTrial]) -> TrialPlace | TuneOutcome:
        """Return the place of the next trial after these, or the outcome if none is left.

        Raise ValueError if a trial is not at the place where the procedure would have measured it.
        """
        steps = self.steps()
        following = _advance(steps, None)
        for trial in trials:
            if not isinstance(following, TrialPlace):
                raise ValueError(f"a trial at {trial.place}, after the last one")
            if trial.place != following:
                raise ValueError(f"a trial at {trial.place}, where {following} was expected")
            following = _advance(steps, trial)
        return following

    def _fresh_rounds(
        self, finalists: Sequence[int], failures: Failures
    ) -> Generator[TrialPlace, TuneTrial, TuneVerdict]:
        """Measure the default and the finalists until a look settles them."""
        looks = self.budget.looks
        orders = williams.order((self.default, *finalists), looks[-1], self.seed)
        rounds: FreshRounds = []
        verdict = self._judge(rounds, finalists, failures)
        for number, order in enumerate(orders, 1):
            remaining = failures.remaining(order)
            trials = yield from measure_round(remaining, failures, "fresh", 0, number)
            rounds.append(_values(trials))
            if number in looks or not failures.remaining(finalists):
                verdict = self._judge(rounds, finalists, failures)
                if verdict.is_settled:
                    break
        return verdict

    def _judge(
        self, rounds: FreshRounds, finalists: Sequence[int], failures: Failures
    ) -> TuneVerdict:
        default = None if self.default in failures.out else self.default
        remaining = failures.remaining(finalists)
        return judge_finalists(rounds, default, remaining, more_is_better=self.more_is_better)


def _advance(
    steps: Generator[TrialPlace, TuneTrial, TuneOutcome], trial: TuneTrial | None
) -> TrialPlace | TuneOutcome:
    """Return the place after a trial, or after the start; the outcome after the last one."""
    try:
        return next(steps) if trial is None else steps.send(trial)
    except StopIteration as end:
        outcome: TuneOutcome = end.value
        return outcome


def _values(trials: Trials) -> dict[int, FreshValue]:
    return {
        setting: FreshValue(trial.value, trial.excesses)
        for setting, trial in trials.items()
        if trial.value is not None
    }
