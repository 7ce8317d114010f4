"""A group of a plan file: users, or arrivals, and what they send.

    [[groups]]
    requests = ["simple"]               # in turn, by weights, or as steps
    users = 40                          # or weight, of all users
    spawn_rate = 5                      # of them begin a second

    [[groups]]
    requests = ["lookup"]
    rate = "50"                         # arrivals a second, who wait for nobody

The names and texts are those of the flags.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require
from torr.model.pace import MOST_PER_S, MOST_USERS, Stage, Think
from torr.units import parse_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.sources.toml_table import TomlTable

Arrivals = Literal["constant", "poisson"]

GROUP_KEYS = (
    *("name", "requests", "weights", "steps", "data"),
    *("users", "weight", "spawn_rate", "think", "stages"),
    *("rate", "arrivals", "connections", "max_in_flight"),
)
_OF_ARRIVALS = ("arrivals", "connections", "max_in_flight")
_OF_USERS = ("users", "weight", "spawn_rate", "think", "steps")


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A group as a file says it: `users`, `weight`, `rate`, or users by `stages`."""

    line: int
    name: str
    requests: tuple[str, ...]
    weights: tuple[int, ...] = ()
    steps: bool = False
    data: str | None = None
    users: int | None = None
    weight: int | None = None
    spawn_rate: float | None = None
    think: Think | None = None
    stages: tuple[Stage, ...] = ()
    rate: float | None = None
    arrivals: Arrivals | None = None
    connections: int | None = None
    max_in_flight: int | None = None

    @property
    def is_steady(self) -> bool:
        """Whether it has users whose number does not change with time."""
        return self.rate is None and not self.stages


def group_of(table: TomlTable, names: Sequence[str]) -> GroupEntry:
    """The group that a table says of requests that have these names; raises FileError."""
    table.check_keys(GROUP_KEYS)
    _check_who(table)
    data = table.one("data", str)
    weights = tuple(table.numbers("weights", "weights = [3, 1]"))
    steps = table.one("steps", bool) or False
    with table.at("weights"):
        require(not (weights and steps), "steps and weights are both given", "leave one out")
    return GroupEntry(
        line=table.line,
        name=table.one("name", str) or table.place.replace("groups.", "group "),
        requests=_requests(table, names),
        weights=weights,
        steps=steps,
        data=None if data is None else str((table.path.parent / data).absolute()),
        users=table.whole("users", MOST_USERS),
        weight=table.whole("weight", MOST_USERS),
        spawn_rate=table.read("spawn_rate", _some_rate),
        think=table.read("think", Think.parse),
        stages=table.read("stages", Stage.parse_all) or (),
        rate=table.read("rate", _some_rate if "stages" not in table.found else _rate),
        arrivals=table.read("arrivals", _arrivals),
        connections=table.whole("connections", MOST_USERS),
        max_in_flight=table.whole("max_in_flight", MOST_USERS),
    )


def _requests(table: TomlTable, names: Sequence[str]) -> tuple[str, ...]:
    found = table.texts("requests", 'requests = ["login"]')
    for number, name in enumerate(found):
        with table.at(f"requests.{number}"):
            require(name in names, f"no request is called {name!r}", f"there is {', '.join(names)}")
    return tuple(found)


def _check_who(table: TomlTable) -> None:
    """Refuse what only users have in a group of arrivals, and what only arrivals have in others."""
    found = table.found
    for key in _OF_USERS if "rate" in found else ():
        with table.at(key):
            is_given = found.get(key) not in (None, False)
            hint = "leave one out: rate is for arrivals, who are nobody's"
            require(not is_given, f"{key} and rate are both given", hint)
    for key in _OF_ARRIVALS if "rate" not in found else ():
        with table.at(key):
            require(key not in found, f"{key} needs rate", 'add rate = "50"')
    for key in ("weight", "spawn_rate") if "stages" in found else ():
        with table.at(key):
            hint = "stages say how many users there are, and when they begin"
            require(key not in found, f"{key} and stages are both given", hint)
    with table.at():
        is_one = ("users" in found) != ("weight" in found) or "rate" in found or "stages" in found
        require(
            is_one,
            "a group has users, a weight among all users, or a rate",
            'write users = 40, weight = 1, or rate = "50"',
        )


def _rate(text: str) -> float:
    per_second = parse_rate(text)
    highest = f"the highest is {MOST_PER_S:,} per second"
    require(0 <= per_second <= MOST_PER_S, f"{text!r} is too high", highest)
    return per_second


def _some_rate(text: str) -> float:
    per_second = _rate(text)
    require(per_second > 0, f"{text!r} a second is none", "write 5, 0.5 or 200/s")
    return per_second


def _arrivals(text: str) -> Arrivals:
    match text:
        case "constant" | "poisson":
            return text
    raise UsageError(f"{text!r} are no arrivals", "there is constant, poisson")
