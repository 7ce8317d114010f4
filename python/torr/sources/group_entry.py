"""A user group of a plan file, or a group of open-loop requests.

    [[groups]]
    requests = ["simple"]               # in turn, by weights, or as steps
    users = 40                          # or weight, a share of all users
    spawn_rate = 5                      # users that begin per second

    [[groups]]
    requests = ["lookup"]
    rate = "50"                         # requests per second in an open loop

The keys and their values are those of the flags.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require
from torr.messages.say import say
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
_OPEN_LOOP_KEYS = ("arrivals", "connections", "max_in_flight")
_USER_KEYS = ("users", "weight", "spawn_rate", "think", "steps")


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A group of a file: with `users`, `weight`, `rate`, or users by `stages`."""

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
        """Return whether it has users whose number does not change with time."""
        return self.rate is None and not self.stages


def group_of(table: TomlTable, names: Sequence[str]) -> GroupEntry:
    """Return the group of a table, whose requests must have these names; raise FileError."""
    table.check_keys(GROUP_KEYS)
    _check_pace(table)
    data = table.value("data", str)
    weights = tuple(table.numbers("weights", say("weights = [3, 1]")))
    steps = table.value("steps", bool) or False
    with table.errors_at("weights"):
        require(
            not (weights and steps), say("steps and weights are both given"), say("leave one out")
        )
    return GroupEntry(
        line=table.line,
        name=table.value("name", str) or table.prefix.replace("groups.", "group "),
        requests=_requests(table, names),
        weights=weights,
        steps=steps,
        data=None if data is None else str((table.path.parent / data).absolute()),
        users=table.count("users", MOST_USERS),
        weight=table.count("weight", MOST_USERS),
        spawn_rate=table.read("spawn_rate", _positive_rate),
        think=table.read("think", Think.parse),
        stages=table.read("stages", Stage.parse_all) or (),
        rate=table.read("rate", _positive_rate if "stages" not in table.values else _rate),
        arrivals=table.read("arrivals", _arrivals),
        connections=table.count("connections", MOST_USERS),
        max_in_flight=table.count("max_in_flight", MOST_USERS),
    )


def _requests(table: TomlTable, names: Sequence[str]) -> tuple[str, ...]:
    chosen = table.texts("requests", say('requests = ["login"]'))
    for number, name in enumerate(chosen):
        with table.errors_at(f"requests.{number}"):
            require(
                name in names,
                say("no request is called {name!r}", name=name),
                say("known names: {names}", names=", ".join(names)),
            )
    return tuple(chosen)


def _check_pace(table: TomlTable) -> None:
    """Refuse keys of users in an open loop, and keys of an open loop in a user group."""
    values = table.values
    for key in _USER_KEYS if "rate" in values else ():
        with table.errors_at(key):
            is_set = values.get(key) not in (None, False)
            hint = say(
                "leave one out: rate starts open-loop requests, which do not belong to users"
            )
            require(not is_set, say("{key} and rate are both given", key=key), hint)
    for key in _OPEN_LOOP_KEYS if "rate" not in values else ():
        with table.errors_at(key):
            require(key not in values, say("{key} needs rate", key=key), say('add rate = "50"'))
    for key in ("weight", "spawn_rate") if "stages" in values else ():
        with table.errors_at(key):
            hint = say("stages set the number of users, and when they start")
            require(key not in values, say("{key} and stages are both given", key=key), hint)
    with table.errors_at():
        is_one = (
            ("users" in values) != ("weight" in values) or "rate" in values or "stages" in values
        )
        require(
            is_one,
            say("a group has users, a weight among all users, or a rate"),
            say('write users = 40, weight = 1, or rate = "50"'),
        )


def _rate(text: str) -> float:
    per_second = parse_rate(text)
    highest = say("the maximum is {most_per_s:,} per second", most_per_s=MOST_PER_S)
    require(0 <= per_second <= MOST_PER_S, say("{text!r} is too high", text=text), highest)
    return per_second


def _positive_rate(text: str) -> float:
    per_second = _rate(text)
    require(
        per_second > 0,
        say("{text!r} is not a rate above 0 per second", text=text),
        say("write 5, 0.5 or 200/s"),
    )
    return per_second


def _arrivals(text: str) -> Arrivals:
    match text:
        case "constant" | "poisson":
            return text
    raise UsageError(
        say("{text!r} is not a kind of arrivals", text=text), say("write constant or poisson")
    )
