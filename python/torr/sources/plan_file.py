"""A plan file: requests, groups of users, and every flag by its name, in TOML.

    url = "http://localhost:8001"
    duration = "5m"                     # a key is a flag of the command, `_` for `-`
    [[requests]]
    name = "simple"
    url = "/v1/chat-messages"           # also method, headers, json, body, stream, timeout, …
    json = { query = "{{row.query}}", response_mode = "streaming", user = "u", inputs = {} }
    [[groups]]
    requests = ["simple"]               # in turn, by weights, or as steps
    users = 40                          # or weight, of all users
    think = "1s-3s"

Whatever is refused is named with its file and line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torr import engine
from torr.errors import FileError, UsageError, require
from torr.model.pace import MOST_USERS, Think
from torr.sources.entry import Entry, at
from torr.sources.members import CHECKS, check_names, entry_of
from torr.sources.requests import read_text

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

# The names of TOML, and those of the members that they are.
REQUEST_KEYS = {
    **{name: name for name in ("name", "url", "method", "weight", "timeout", *CHECKS)},
    **{name: name for name in ("stream", "idle_timeout")},
    "headers": "header",
    "json": "json_body",
    "body": "text_body",
}
GROUP_KEYS = ("name", "requests", "weights", "steps", "users", "weight", "think", "data")
TABLES = ("url", "requests", "groups")


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """Users of one kind, as a file says them; `users` or `weight` is None."""

    line: int
    name: str
    requests: tuple[str, ...]
    weights: tuple[int, ...] = ()
    steps: bool = False
    users: int | None = None
    weight: int | None = None
    think: Think | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True)
class PlanFile:
    """What a file says; `flags` are texts and numbers by the names of flags."""

    path: Path
    url: str | None
    requests: tuple[Entry, ...]
    groups: tuple[GroupEntry, ...]
    flags: Json = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def read_plan_file(path: Path) -> PlanFile:
    """Read a plan file; raises FileError, or UsageError where there is no file."""
    text = read_text(path)
    try:
        found, lines = engine.read_toml(text)
    except ValueError as error:
        line, _, message = str(error).partition(":")
        raise FileError(path, int(line), f"not TOML: {message.strip()}") from error
    reader = _Reader(path, found, lines)
    return PlanFile(
        path=path,
        url=reader.url(),
        requests=tuple(reader.requests()),
        groups=tuple(reader.groups()),
        flags={key: value for key, value in found.items() if key not in TABLES},
        lines=lines,
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    path: Path
    found: Json
    lines: dict[str, int]

    def line(self, place: str) -> int:
        """Where a key stands, or the nearest table around it."""
        while place and place not in self.lines:
            place = place.rpartition(".")[0]
        return self.lines.get(place, 1)

    def url(self) -> str | None:
        url = self.found.get("url")
        with at(self.path, self.line("url")):
            require(url is None or isinstance(url, str), "url is not a text")
        return url

    def tables(self, name: str) -> list[tuple[str, Json]]:
        """The tables of an array, each with its place."""
        found = self.found.get(name, [])
        with at(self.path, self.line(name)):
            fits = isinstance(found, list) and all(isinstance(each, dict) for each in found)
            require(fits, f"{name} are no tables", f"write [[{name}]] above each")
        return [(f"{name}.{number}", each) for number, each in enumerate(found)]

    def requests(self) -> list[Entry]:
        entries = []
        for place, table in self.tables("requests"):
            self.check_keys(place, table, tuple(REQUEST_KEYS))
            members = {REQUEST_KEYS[key]: value for key, value in table.items()}
            with at(self.path, self.line(place)):
                require("name" in members, "a request has no name", 'write name = "login"')
                entries.append(entry_of(self.path, self.line(place), members))
        names = [entry.name for entry in entries]
        for number, name in enumerate(names):
            with at(self.path, self.line(f"requests.{number}.name")):
                require(name not in names[:number], f"two requests are called {name!r}")
        with at(self.path, 1):
            require(bool(entries), "there is no request", "write [[requests]] with name and url")
        return entries

    def groups(self) -> list[GroupEntry]:
        groups = []
        for place, table in self.tables("groups"):
            self.check_keys(place, table, GROUP_KEYS)
            with at(self.path, self.line(place)):
                groups.append(self.group(place, table))
        return groups

    def group(self, place: str, table: Json) -> GroupEntry:
        names = _list(table, "requests", str, 'requests = ["login"]')
        known = [str(each.get("name")) for _, each in self.tables("requests")]
        for number, name in enumerate(names):
            with at(self.path, self.line(f"{place}.requests.{number}")):
                require(
                    name in known, f"no request is called {name!r}", f"there is {', '.join(known)}"
                )
        users, weight = _whole(table, "users"), _whole(table, "weight")
        require(
            (users is None) != (weight is None),
            "a group has users, or a weight among all users",
            "write users = 40, or weight = 1",
        )
        think, steps = _one(table, "think", str), _one(table, "steps", bool) or False
        weights = tuple(_list(table, "weights", int, "weights = [3, 1]", needed=False))
        require(not (weights and steps), "steps and weights are both given", "leave one out")
        data = _one(table, "data", str)
        return GroupEntry(
            line=self.line(place),
            name=_one(table, "name", str) or place.replace("groups.", "group "),
            requests=tuple(names),
            weights=weights,
            steps=steps,
            users=users,
            weight=weight,
            think=None if think is None else Think.parse(think),
            data=None if data is None else str((self.path.parent / data).absolute()),
        )

    def check_keys(self, place: str, table: Json, known: tuple[str, ...]) -> None:
        """Refuse a key that there is not, at its own line."""
        for key in table:
            with at(self.path, self.line(f"{place}.{key}")):
                check_names({key: None}, known)


def _one(table: Json, name: str, kind: type) -> Any:  # noqa: ANN401 - of that kind
    value = table.get(name)
    words = {str: "a text", bool: "true or false", int: "a whole number"}
    fits = value is None or (isinstance(value, kind) and (kind is bool or value is not True))
    require(fits, f"{name} is not {words[kind]}")
    return value


def _whole(table: Json, name: str) -> int | None:
    value: int | None = _one(table, name, int)
    fits = value is None or 1 <= value <= MOST_USERS
    require(fits, f"{name} = {value}: it is a whole number from 1 on")
    return value


def _list(table: Json, name: str, kind: type, hint: str, *, needed: bool = True) -> list[Any]:
    found = table.get(name)
    if found is None:
        require(not needed, f"{name} is missing", hint)
        return []
    if not isinstance(found, list) or not found or not all(isinstance(x, kind) for x in found):
        raise UsageError(f"{name} is no list", hint)
    return found
