"""The levels of a ladder and its load, from its options."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torr.errors import require
from torr.experiments.levels import FixedLevels
from torr.messages.say import say
from torr.options.definition import refuse, require_for
from torr.options.ladder import LadderOptions
from torr.options.verbs import LADDER
from torr.planning.file_keys import values_of_plan

if TYPE_CHECKING:
    from torr.experiments.levels import Levels
    from torr.options.load import LoadOptions
    from torr.options.measure import MeasureOptions

ONLY_OF_RATES = ("connections", "arrivals", "max_in_flight", "spin")
"""Options of the load, by their fields, that a ladder has for its rates alone."""


def levels_of_ladder(options: MeasureOptions) -> Levels:
    """Return the levels that the options ask for."""
    ladder = options.ladder or LadderOptions()
    return ladder.rates or ladder.levels or FixedLevels()


def load_of_ladder(options: MeasureOptions) -> MeasureOptions:
    """Return the options with the load of the first level; raise UsageError for contradictions."""
    ladder, load = options.ladder or LadderOptions(), options.load
    _check_least_capacity(ladder)
    if ladder.rates is None:
        own = _without_those_of_run(options)
        require_for(own, *ONLY_OF_RATES, what="--rates", hint=_BY_USERS)
        return replace(options, load=own)
    refuse(ladder, "levels", what="--rates", hint=say("a ladder has levels of one kind"))
    refuse(load, "think", what="--rates", hint=say("open-loop requests do not belong to a user"))
    refuse(load, "pool", what="--rates", hint=say("give connections by -c"))
    refuse(options.trace, "trace", what="--rates", hint=say("a trace has times of its own"))
    hint = say("profile one rate by torr run --rate")
    refuse(options.result, "profile", what="--rates", hint=hint)
    return replace(options, load=replace(load, rate_per_s=ladder.rates.first))


_BY_USERS = say("the levels of --levels are numbers of connections; add --rates 100,200,400")


def _without_those_of_run(options: MeasureOptions) -> LoadOptions:
    """Return the load without the connections of a plan file, which are those of `torr run`."""
    load = options.load
    of_file = values_of_plan(LADDER, options.urls).get("connections")
    return replace(load, connections=None) if load.connections == of_file else load


def _check_least_capacity(ladder: LadderOptions) -> None:
    """Refuse a least capacity in users for rates, and in arrivals for numbers of users."""
    least = ladder.min_capacity
    if least is None:
        return
    flag = f"--min-capacity '{least}'"
    require(
        least.users is None or ladder.rates is None,
        say("{flag} is a number of users, and --rates has none", flag=flag),
        say("write '200 arrivals/s' or '200 ok/s'"),
    )
    require(
        least.arrivals_per_s is None or ladder.rates is not None,
        say("{flag} is a rate of arrivals, which needs --rates", flag=flag),
        say("write '200 users' or '200 ok/s'"),
    )
