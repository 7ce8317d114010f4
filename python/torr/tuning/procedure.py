"""The procedure of a tuning: search without claims, fix the finalists, judge them in fresh rounds.

It decides only which trial is next. It starts no server, reads no clock and draws from its seed
alone, so that the same trials always have the same next trial. A tuning that was interrupted goes
on by replaying the trials that are on the disk.

    search ─ finalists, in a fixed order ─ fresh rounds ─ look ─ … ─ look ─ the verdict
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from torr.stats import williams
from torr.tuning.search import Failures, Trials, measure_round, search
from torr.verdicts.tuning import RATE, FreshRounds, FreshValue, TuneVerdict, judge_finalists

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from torr.results.tuning import SettingOut, TrialPlace
    from torr.stats.metric import Metric
    from torr.tuning.budget import TuneBudget
    from torr.tuning.trials import TuneTrial


@dataclass(frozen=True, slots=True)
class TuneFindings:
    """What a procedure has found: the finalists in their fixed order, and the last verdict.

    The verdict is that of the last look. It is None before one, and if no setting but the default
    could be measured. `untried` are settings that did not enter the search.
    """

    finalists: tuple[int, ...]
    verdict: TuneVerdict | None
    out: tuple[SettingOut, ...]
    untried: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TuneReplay:
    """What a procedure has found after some trials, and the place of the next one, if any."""

    findings: TuneFindings
    following: TrialPlace | None


ChooseLooks = Callable[[tuple[int, ...], int], tuple[int, ...]]
"""Returns the looks to make, of those planned and the number of settings in fresh rounds."""


@dataclass
class _Progress:
    """What the steps have found so far."""

    choose_looks: ChooseLooks = lambda looks, _measured: looks
    finalists: tuple[int, ...] = ()
    verdict: TuneVerdict | None = None
    failures: Failures = field(default_factory=Failures)


@dataclass(frozen=True, slots=True)
class TuneProcedure:
    """The procedure for `budget.settings` settings, numbered from 0, of which one is the default.

    `metric` is the primary metric, which is made best.
    """

    default: int
    budget: TuneBudget
    seed: int = 1
    metric: Metric = RATE

    def entrants(self) -> list[int]:
        """Return the settings that enter the search, drawn by the seed; never the default."""
        others = [n for n in range(self.budget.settings) if n != self.default]
        # Not a secret: a draw that can be repeated.
        return Random(self.seed).sample(others, self.budget.entrants)  # noqa: S311

    def run(
        self,
        measure: Callable[[TrialPlace], TuneTrial],
        choose_looks: ChooseLooks = lambda looks, _measured: looks,
    ) -> TuneFindings:
        """Measure the trials of the whole procedure; return what was found.

        `choose_looks` may leave out the last looks when the search is over. A replay then needs the
        procedure with the looks that are left.
        """
        progress = _Progress(choose_looks=choose_looks)
        steps = self._steps(progress)
        place = next(steps, None)
        while place is not None:
            place = _following(steps, measure(place))
        return self._findings(progress)

    def replay(self, trials: Mapping[TrialPlace, TuneTrial]) -> TuneReplay:
        """Return what was found after these trials, and where the next one belongs.

        Raise ValueError if a trial is at a place where the procedure would have measured none.
        """
        progress = _Progress()
        steps = self._steps(progress)
        place, left = next(steps, None), dict(trials)
        while place is not None and (trial := left.pop(place, None)) is not None:
            place = _following(steps, trial)
        if left:
            raise ValueError(f"{len(left)} trials, such as {next(iter(left))}, before {place}")
        return TuneReplay(self._findings(progress), place)

    def _steps(self, progress: _Progress) -> Generator[TrialPlace, TuneTrial, None]:
        """Yield the place of each trial, and receive the trial; note what was found."""
        progress.finalists = yield from search(
            self.entrants(),
            self.budget.levels,
            progress.failures,
            self.seed,
            more_is_better=self.metric.more_is_better,
        )
        if progress.finalists:
            yield from self._fresh_rounds(progress)

    def _findings(self, progress: _Progress) -> TuneFindings:
        tried = {self.default, *self.entrants()}
        return TuneFindings(
            finalists=progress.finalists,
            verdict=progress.verdict,
            out=tuple(progress.failures.out.values()),
            untried=tuple(n for n in range(self.budget.settings) if n not in tried),
        )

    def _fresh_rounds(self, progress: _Progress) -> Generator[TrialPlace, TuneTrial, None]:
        """Measure the default and the finalists until a look settles them."""
        failures, settings = progress.failures, (self.default, *progress.finalists)
        looks = progress.choose_looks(self.budget.looks, len(settings))
        orders = williams.order(settings, looks[-1], self.seed)
        rounds: FreshRounds = []
        for number, order in enumerate(orders, 1):
            remaining = failures.remaining(order)
            trials = yield from measure_round(remaining, failures, "fresh", 0, number)
            rounds.append(_values(trials))
            if number in looks or not failures.remaining(progress.finalists):
                progress.verdict = self._judge(rounds, progress)
                if progress.verdict.is_settled:
                    break

    def _judge(self, rounds: FreshRounds, progress: _Progress) -> TuneVerdict:
        failures = progress.failures
        default = None if self.default in failures.out else self.default
        remaining = failures.remaining(progress.finalists)
        return judge_finalists(rounds, default, remaining, metric=self.metric)


def _following(
    steps: Generator[TrialPlace, TuneTrial, None], trial: TuneTrial
) -> TrialPlace | None:
    """Return the place after a trial; None after the last one."""
    try:
        return steps.send(trial)
    except StopIteration:
        return None


def _values(trials: Trials) -> dict[int, FreshValue]:
    return {
        setting: FreshValue(trial.value, trial.slos, trial.failed, trial.ended)
        for setting, trial in trials.items()
        if trial.value is not None
    }
