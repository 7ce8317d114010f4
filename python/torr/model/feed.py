"""Rows that reach the engine while a load runs, such as those of a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from torr.errors import require
from torr.messages.say import say
from torr.model.json import JsonObject, PlanPart

if TYPE_CHECKING:
    from torr.results.trace import TraceContent


class FeedRow(NamedTuple):
    """The values of one request, and when it may start; the engine takes it as a tuple.

    Rows of one session are sent by one worker and share captured values. A row starts when all rows
    in `after` have ended and `pause_ns` has passed, and in a timed feed not before `due_ns`. If
    `after` is empty and the feed is not timed, `pause_ns` counts from the start of its session.
    `followers` is how many later rows name it in `after`, None if that is unknown. `tokens` are the
    planned ones of prompt and output, 0 if nothing is planned.
    """

    number: int
    session: int
    after: tuple[int, ...] | list[int]
    followers: int | None
    due_ns: int
    pause_ns: int
    request: int
    cells: tuple[str, ...] | list[str]
    tokens: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Remember(PlanPart):
    """A text that the value `name` of a session grows by with each good response: a template."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class FeedLevel:
    """The level that reads a feed: its number from 0, and its users; None if rows have times."""

    number: int = 0
    users: int | None = None


ReadFeed = Callable[[FeedLevel], Iterator[list[FeedRow]]]
"""Reads the rows of a level from the first one on; gives lists that are not empty."""


@dataclass(frozen=True, slots=True)
class RowFeed(PlanPart):
    """The columns of a feed, and how its rows are read, anew for each level.

    The rows of each level are the same but for their texts, so that no cache has those of another.
    """

    columns: tuple[str, ...]
    read: ReadFeed = field(compare=False)
    origin: Callable[[], Iterator[bytes]] = field(default=lambda: iter(()), compare=False)
    """Return all that rows are made from, for a checksum."""
    content: Callable[[], TraceContent | None] = field(default=lambda: None, compare=False)
    """Return what was read since the feed was last opened."""
    level: FeedLevel = FeedLevel()

    def __post_init__(self) -> None:
        """Check the columns."""
        require(bool(self.columns), say("a feed needs a column"))

    def open(self) -> Iterator[list[FeedRow]]:
        """Read the rows of the level from the first one on."""
        return self.read(self.level)

    def of_level(self, level: FeedLevel) -> RowFeed:
        """Return the feed of another level."""
        return replace(self, level=level)

    def as_json(self) -> JsonObject:
        """Return the `data` of the engine's plan."""
        return {"fed": list(self.columns)}
