"""The text of `torr tune --plan`: settings, trials, time, and whether the budget can find much."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.say import join, say
from torr.messages.trials import trials_text
from torr.tuning.budget import finalists_of, least_trials, search_trials
from torr.units import show_setting
from torr.verdicts.judgement import least_difference
from torr.verdicts.looks import ALPHA_OF_A_LOOK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.planning.tuning import TunePlan


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
    yield _search(tuning)
    yield _fresh(tuning)
    yield _total(tuning)
    yield from _power(tuning)


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
    text = trials_text(*tuning.procedure.budget.all_trials, tuning.trial_s)
    if tuning.load.seconds is None:
        return say("{known} and the time of their requests", known=text)
    return text


def _power(tuning: TunePlan) -> Iterator[str]:
    """Yield whether the search has enough trials, and which differences fresh rounds can show."""
    budget, noise = tuning.procedure.budget, tuning.noise
    needed = search_trials(budget.settings, noise)
    values = {"noise": f"{noise:g}", "needed": f"{needed:,}"}
    if budget.search >= needed:
        yield say(
            "the search has enough trials for a standard deviation of {noise} % between trials of"
            " one setting: about nine of ten such searches end within 2 % of the best setting",
            **values,
        )
    else:
        yield say(
            "the search has fewer than the {needed} trials that it needs for a standard deviation"
            " of {noise} % between trials of one setting: it may end further than 2 % from the best"
            " setting",
            **values,
        )
    spread = math.sqrt(2) * noise / 100
    shown = least_difference(spread, budget.looks[-1], ALPHA_OF_A_LOOK)
    yield say(
        "{rounds} show a difference from the default of about {least:.1f} % or more",
        rounds=counted(budget.looks[-1], "fresh round"),
        least=100 * math.expm1(shown),
    )
