"""Options that `torr ladder` adds to those of a load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torr import units
from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.pace import MOST_USERS
from torr.options import readers
from torr.options.definition import LOAD, RESULT, RUN_SCOPES, option
from torr.options.readers import Reader

if TYPE_CHECKING:
    from torr.experiments.ladder import AutoLevels, FixedLevels
    from torr.model.least_capacity import LeastCapacity


def read_levels(text: str) -> FixedLevels | AutoLevels:
    """Return the levels of a list, or `auto`; raises UsageError."""
    from torr.experiments.auto import Search
    from torr.experiments.ladder import AutoLevels, FixedLevels

    kind, *bounds = text.split(":")
    if kind == "auto" and len(bounds) <= 2:
        search = Search(*map(readers.COUNT.read, bounds))
        fits = search.start <= search.most
        require(fits, say("{text!r} ends before it begins", text=text), say("write auto:64:2000"))
        return AutoLevels(search)
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


@dataclass(frozen=True, slots=True)
class LadderOptions:
    """Which levels are measured, how often, and which capacity they must show."""

    group: ClassVar[str] = LOAD

    levels: FixedLevels | AutoLevels | None = option(
        "--levels",
        Reader("LIST", read_levels, "200,500,1000"),
        "measure 1,2,4 or auto[:START[:END]] [200 … 50000]",
    )
    rounds: int = option(
        "--rounds", readers.COUNT, "measure the whole ladder N times [1]", default=1
    )
    min_capacity: LeastCapacity | None = option(
        "--min-capacity",
        readers.CAPACITY,
        "exit 1 below a capacity: '5000 ok/s', '200 users'",
        group=RESULT,
        scopes=RUN_SCOPES,
    )
