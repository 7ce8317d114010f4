"""The text of `torr tune --plan`: settings, trials, time, and whether the budget can find much."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torr.experiments.tuning_time import TRIALS_OF_DEFAULT
from torr.messages.counts import counted
from torr.messages.say import join, say
from torr.messages.trials import time_text, trials_text
from torr.model.plan import Count
from torr.tuning.budget import finalists_of, least_trials, search_trials, simulated_share
from torr.tuning.response_needs import lacking, response_needs
from torr.units import SECOND_NS, show_setting
from torr.verdicts.judgement import DELTA, least_difference
from torr.verdicts.looks import ALPHA_OF_A_LOOK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.messages.say import Text
    from torr.planning.tuning import TunePlan
    from torr.tuning.budget import TuneBudget


def preview(tuning: TunePlan) -> Iterator[str]:
    """Yield lines: the settings, the search, the fresh rounds, the time, what they can find."""
    yield _settings(tuning)
    budget = tuning.procedure.budget
    if not budget.finds_anything:
        yield say(
            "{trials}: too few to find anything, at least {n} are needed",
            trials=counted(tuning.requested or 0, "trial"),
            n=least_trials(budget.settings),
        )
        return
    if budget.levels:
        yield _search(tuning)
    yield _fresh(tuning)
    yield _total(tuning)
    yield from _power(tuning)
    yield from _lacking(tuning)


def _settings(tuning: TunePlan) -> str:
    file = tuning.file
    return say(
        "{settings} of {parameters}; the default is {default}",
        settings=counted(len(file.settings), "setting"),
        parameters=counted(len(file.parameters), "parameter"),
        default=show_setting(file.settings[file.default]),
    )


def _search(tuning: TunePlan) -> str:
    budget = tuning.procedure.budget
    levels = [
        say(
            "{settings} in {rounds}",
            settings=counted(level.settings, "setting"),
            rounds=counted(level.rounds, "round"),
        )
        for level in budget.levels
    ]
    text = say(
        "search: {trials}: {levels}",
        trials=counted(budget.search_trials, "trial"),
        levels=join(levels),
    )
    untried = budget.settings - 1 - budget.entrants
    if not untried:
        return text
    return say("{search}; {n:,} settings are not tried", search=text, n=untried)


def _fresh(tuning: TunePlan) -> str:
    budget = tuning.procedure.budget
    return say(
        "fresh rounds of the default and {n} finalists: judged after {looks} rounds",
        n=finalists_of(budget.entrants + 1),
        looks=join([f"{look}" for look in budget.looks]),
    )


def _total(tuning: TunePlan) -> str:
    """Return how many trials there are with those of the default before, and their time.

    The estimate is the middle of the shortest and the longest time.
    """
    least, most = (count + TRIALS_OF_DEFAULT for count in tuning.procedure.budget.all_trials)
    text = trials_text(least, most, tuning.trial_s)
    if tuning.load.seconds is None:
        return say("{known} and the time of their requests", known=text)
    if least == most:
        return text
    middle = time_text((least + most) / 2 * tuning.trial_s)
    return say("{known}; the estimate is {middle}", known=text, middle=middle)


def _power(tuning: TunePlan) -> Iterator[str]:
    """Yield whether the search has enough trials, and which differences fresh rounds can show."""
    budget, noise = tuning.procedure.budget, tuning.noise
    if budget.levels:
        yield _of_search(budget, noise)
    if tuning.slos:
        yield say("where the best settings are near the limit of an SLO, fewer end there")
    yield _shown(budget.looks[-1], noise)


def _of_search(budget: TuneBudget, noise: float) -> Text:
    needed = search_trials(budget.settings, noise)
    values = {"noise": f"{noise:g}", "needed": f"{needed:,}"}
    if budget.search >= needed:
        return say(
            "the search has enough trials for a standard deviation of {noise} % between trials of"
            " one setting: {found}",
            found=_found(budget.settings, noise),
            **values,
        )
    return say(
        "the search has fewer than the {needed} trials that it needs for a standard deviation"
        " of {noise} % between trials of one setting: it may end further than 2 % from the best"
        " setting",
        **values,
    )


def _found(settings: int, noise: float) -> Text:
    """Return how many searches ended near the best setting in simulations."""
    share = simulated_share(settings, noise)
    if share is None:
        return say("such searches were not simulated")
    return say(
        "about {share} % of simulated searches without an SLO ended within 2 % of the best setting",
        share=share,
    )


def _shown(rounds: int, noise: float) -> Text:
    """Return which difference fresh rounds show, and of which one they show at least 3 %."""
    shown = least_difference(math.sqrt(2) * noise / 100, rounds, ALPHA_OF_A_LOOK)
    return say(
        "{rounds} show that a setting is faster than the default if it is by about {least:.1f} %,"
        " and that it is at least {margin:g} % faster if it is by about {claimed:.1f} %",
        rounds=counted(rounds, "fresh round"),
        least=100 * math.expm1(shown),
        margin=100 * DELTA,
        claimed=100 * math.expm1(shown + math.log1p(DELTA)),
    )


def _lacking(tuning: TunePlan) -> Iterator[str]:
    """Yield which SLOs a trial has too few responses to show, as far as is known before."""
    needs = list(
        response_needs(tuning.procedure.metric, tuning.slos, tuning.procedure.budget.looks[-1])
    )
    load = tuning.load
    window = None if load.window_ns is None else load.window_ns / SECOND_NS
    if isinstance(load.stop, Count):
        yield from lacking(needs, load.stop.requests, None)
    elif window and load.rate_per_s is not None:
        yield from lacking(needs, load.rate_per_s * window, window)
    elif window:
        for need in needs:
            yield say(
                "{label} needs {needed:,} responses in a trial: {rate:,.0f}/s or more",
                label=need.label,
                needed=need.responses,
                rate=math.ceil(need.responses / window),
            )
