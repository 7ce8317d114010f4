"""Options that `torr ladder` adds to those of a load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torr import units
from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.pace import MOST_PER_S, MOST_USERS
from torr.options import readers
from torr.options.definition import LOAD, RESULT, RUN_SCOPES, option
from torr.options.readers import Reader

if TYPE_CHECKING:
    from torr.experiments.levels import AutoLevels, FixedLevels, Rates
    from torr.model.least_capacity import LeastCapacity


def read_levels(text: str) -> FixedLevels | AutoLevels:
    """Return the levels of a list, or `auto`; raises UsageError."""
    from torr.experiments.auto import MOST_LEVEL, Search
    from torr.experiments.levels import AutoLevels, FixedLevels

    kind, *bounds = text.split(":")
    if kind == "auto" and len(bounds) <= 2:
        start, *end = map(readers.COUNT.read, bounds or ["1"])
        most = end[0] if end else max(start, MOST_LEVEL)
        fits = start <= most
        require(fits, say("{text!r} ends before it begins", text=text), say("write auto:64:2000"))
        return AutoLevels(Search(start, most))
    try:
        levels = tuple(units.parse_count(word) for word in text.split(","))
    except UsageError as error:
        raise UsageError(
            say("{text!r} is not a list of levels", text=text),
            say("write 200,500,1000 or auto or auto:64:2000"),
        ) from error
    if max(levels) > MOST_USERS:
        raise UsageError(
            say("level {maximum} is too many", maximum=max(levels)),
            say("the maximum is {most_users:,}", most_users=MOST_USERS),
        )
    return FixedLevels(levels)


def read_rates(text: str) -> Rates:
    """Return the rates of a list, or `auto`; raises UsageError."""
    from torr.experiments.auto import FINEST_RATIO_OF_RATES, Search
    from torr.experiments.levels import AutoRates, FixedRates

    kind, *bounds = text.split(":")
    if kind == "auto" and len(bounds) <= 2:
        start, *end = map(readers.RATE.read, bounds or ["1"])
        most = end[0] if end else float(MOST_PER_S)
        fits = start <= most
        require(fits, say("{text!r} ends before it begins", text=text), say("write auto:10:500"))
        return AutoRates(Search(start, most, finest=FINEST_RATIO_OF_RATES, is_of_rates=True))
    try:
        return FixedRates(tuple(readers.RATE.read(word) for word in text.split(",")))
    except UsageError as error:
        raise UsageError(
            say("{text!r} is not a list of rates", text=text),
            say("write 100,200,400 or auto or auto:10:500"),
        ) from error


@dataclass(frozen=True, slots=True)
class LadderOptions:
    """Which levels are measured, how often, and which capacity they must show."""

    group: ClassVar[str] = LOAD

    levels: FixedLevels | AutoLevels | None = option(
        "--levels",
        Reader("LIST", read_levels, "200,500,1000"),
        "measure 1,2,4 or auto[:START[:END]] [200 … 50000]",
    )
    rates: Rates | None = option(
        "--rates",
        Reader("LIST", read_rates, "100,200,400"),
        "measure rates: 100,200 or auto[:START[:END]]",
    )
    rounds: int = option(
        "--rounds", readers.COUNT, "measure the whole ladder N times [1]", default=1
    )
    min_capacity: LeastCapacity | None = option(
        "--min-capacity",
        readers.CAPACITY,
        "exit 1 below: '5k ok/s', '9 users', '9 arrivals/s'",
        group=RESULT,
        scopes=RUN_SCOPES,
    )
