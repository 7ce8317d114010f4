"""The text of `torr compare --plan`: the trials, their time, and which verdicts they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.experiments.profile_recording import plan_for_profile
from torr.messages.counts import counted
from torr.messages.say import chain, changed, join, padded, say
from torr.planning.matrix import AROUND_A_TRIAL_S
from torr.stats.metric import METRICS
from torr.units import SECOND_NS, show_setting
from torr.verdicts.judgement import least_rounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.experiments.matrix import Matrix
    from torr.messages.say import Text
    from torr.planning.comparison import ComparisonPlan


def preview(comparison: ComparisonPlan) -> Iterator[str]:
    """Yield lines: the trials of each cell in order, their time, and the power of the rounds."""
    file, matrix = comparison.file, comparison.matrix
    for cell, factors in enumerate(matrix.cells):
        yield show_setting(factors) or say("one cell")
        for number, names in enumerate(matrix.order(cell)):
            place = say("round {n}", n=number) if number else say("not counted")
            order = " → ".join(names)
            label = changed(place, lambda text: f"  {padded(text, 12)}")
            yield chain("", [label, order])
    yield ""
    yield _duration(comparison)
    if comparison.profiles is not None:
        trials = comparison.profiles.trials_of(matrix)
        plans = [
            plan_for_profile(matrix.plan_of(candidate, cell, candidate.any_url(cell)))
            for candidate, cell in trials
        ]
        total_s = sum(AROUND_A_TRIAL_S + (plan.seconds or 0.0) for plan in plans)
        yield say(
            "then {profiles}, about {time} more",
            profiles=counted(len(plans), "profile"),
            time=_minutes(total_s),
        )
    yield _cores(comparison)
    pairs = (len(file.candidates) - 1) * len(matrix.cells)
    yield _power(matrix.stages, pairs, matrix.procedure.alpha)


def _cores(comparison: ComparisonPlan) -> Text:
    if comparison.options.nodes is not None:
        return say("nodes: {nodes}; servers on all cores", nodes=comparison.options.nodes)
    if comparison.pin is None:
        return say("cores: shared")
    return say("cores: {pin} (generator/target)", pin=comparison.pin)


def _duration(comparison: ComparisonPlan) -> str:
    """Return the number of trials and their time, with the parts of it that are unknown."""
    file, matrix = comparison.file, comparison.matrix
    plans = [
        matrix.plan_of(candidate, factors, candidate.any_url(factors))
        for factors in matrix.cells
        for candidate in file.candidates
    ]
    overhead_s = AROUND_A_TRIAL_S + file.pause_ns / SECOND_NS
    round_s = sum(overhead_s + (plan.seconds or 0.0) for plan in plans)
    text = _trials(matrix, round_s)
    if any(plan.seconds is None for plan in plans):
        text = say("{known} and the time of their requests", known=text)
    if file.warmup_requests is not None:
        text = say("{known} and the warm-up requests", known=text)
    return text


def _trials(matrix: Matrix, round_s: float) -> str:
    """Return the number of trials and their time, up to the first look and at most."""
    stages = []
    for looks, rounds in enumerate(matrix.stages, 1):
        stage = say(
            "{trials} in {cells}, about {time}",
            trials=counted(matrix.count // matrix.rounds * rounds, "trial"),
            cells=counted(len(matrix.cells), "cell"),
            # One round that is not counted precedes the rounds up to each look.
            time=_minutes(round_s * (rounds + looks)),
        )
        stages.append(stage)
    if len(stages) == 1:
        return stages[0]
    return say(
        "{rounds}: {first}; at most {most}: {last}",
        rounds=counted(matrix.stages[0], "round"),
        first=stages[0],
        most=matrix.rounds,
        last=stages[-1],
    )


def _power(stages: Sequence[int], pairs: int, alpha: float) -> str:
    """Return whether the rounds can decide anything, and which looks before the last cannot."""
    rounds = stages[-1]
    if pairs == 0:
        return say("one candidate: there is nothing to compare it with")
    needed = least_rounds(pairs, alpha)
    text = say(
        "{rounds} for {comparisons} with the baseline",
        rounds=counted(rounds, "round"),
        comparisons=counted(pairs, "comparison"),
    )
    if rounds < needed:
        return say(
            "{rounds}: too few for any verdict, at least {n} are needed", rounds=text, n=needed
        )
    # The other metrics are a family of their own, and a larger one.
    others = least_rounds(pairs * (len(METRICS) - 1), alpha)
    parts = [say("{rounds}: enough for verdicts if trials differ little", rounds=text)]
    early = join([f"{look}" for look in stages if look < needed])
    if early:
        parts.append(
            say("{looks} rounds decide nothing, at least {n} are needed", looks=early, n=needed)
        )
    if rounds < others:
        parts.append(say("the other metrics need at least {n}", n=others))
    return chain("; ", parts)


def _minutes(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else f"{round(seconds)} s"
