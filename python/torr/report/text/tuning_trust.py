"""How far to trust a tuning: the generator's health, what was tried, what is out, cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.say import Text, one_line, say
from torr.report.data.tuning import Tuning
from torr.report.text.comparison_trust import cores, health
from torr.tuning.trials import LIMITED

if TYPE_CHECKING:
    from torr.results.result import RunResult


def parts(result: RunResult) -> list[str]:
    """Return what the trust line of a tuning begins with."""
    tuning = Tuning.of(result)
    limited = say("which count for nothing")
    shown = [
        health(result.levels, limited),
        _searched(tuning),
        *_out(tuning),
        *_noise(tuning),
        *cores(result.experiment.pin),
    ]
    return [one_line(part) for part in shown]


def _searched(tuning: Tuning) -> Text:
    trials = counted(sum(seen.rounds for seen in tuning.searched), "trial")
    tried = counted(len(tuning.searched), "setting")
    values = {"trials": trials, "settings": tried}
    if not tuning.outcome.untried:
        return say("the search had {trials} of {settings}", **values)
    return say(
        "the search had {trials} of {settings}; {n:,} were not tried",
        n=tuning.outcome.untried,
        **values,
    )


def _noise(tuning: Tuning) -> list[Text]:
    if tuning.noise is None:
        return []
    return [say("standard deviation of a trial {noise:.1f} %", noise=tuning.noise)]


def _out(tuning: Tuning) -> list[Text]:
    """Return how many settings are out; those that the generator limited did not fail."""
    limited = sum(out.problem == LIMITED for out in tuning.outcome.out)
    failed = len(tuning.outcome.out) - limited
    parts = [
        say("{settings} failed", settings=counted(failed, "setting")) if failed else None,
        say("the generator limited {settings}", settings=counted(limited, "setting"))
        if limited
        else None,
    ]
    return [part for part in parts if part is not None]
